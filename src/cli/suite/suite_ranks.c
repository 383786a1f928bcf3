#include "cli/suite/suite_ranks.h"

#include "backend/cpu_threads.h"
#include "bench/measure/rank_launch.h"
#include "cli/suite/suite_arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool suite_ranks_has(SuitePartId part)
{
    for (int i = 0; i < suite_parts_n_workloads; i++) {
        const SuiteWorkload *workload = &suite_parts_workloads[i];
        if (workload->part == part && suite_arguments_name(workload->rest, OPTION_RANKS))
            return true;
    }
    return false;
}

SuiteRanks suite_ranks_on_cpu(int processors, int64_t threads_given)
{
    SuiteRanks ranks = {0};
    const int64_t threads = threads_given > 0 ? threads_given : processors / SUITE_RANKS_CPU;
    if (threads >= 1 && threads <= processors / SUITE_RANKS_CPU)
        ranks.threads = (int)threads;
    else if (threads_given > 1)
        snprintf(ranks.why, sizeof ranks.why,
                 "%d ranks with --threads %" PRId64 " need %" PRId64
                 " cores and this process has %d",
                 SUITE_RANKS_CPU, threads, SUITE_RANKS_CPU * threads, processors);
    else
        snprintf(ranks.why, sizeof ranks.why, "%d ranks need %d cores and this process has %d",
                 SUITE_RANKS_CPU, SUITE_RANKS_CPU, processors);
    return ranks;
}

static SuiteRanks on_gpus(void)
{
    SuiteRanks ranks = {.gpu = true};
    if (backend_api(BACKEND_cuda)->capability(SUITE_RANKS_GPU - 1) == 0)
        snprintf(ranks.why, sizeof ranks.why, "%d ranks need %d GPUs and this machine has one",
                 SUITE_RANKS_GPU, SUITE_RANKS_GPU);
    return ranks;
}

Status suite_ranks_find(SuiteRanks *ranks, const Suite *suite, bool gpu)
{
    char mpi[sizeof ranks->why];
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    TRY(suite_arguments_parse(suite->device, &cmd_bench.options, &settings, &sweep));
    *ranks =
        gpu ? on_gpus() : suite_ranks_on_cpu(cpu_threads_processors(), sweep.configs[0].threads);
    if (!*ranks->why && !rank_launch_describe(mpi, sizeof mpi)) memcpy(ranks->why, mpi, sizeof mpi);
    return ST_OK;
}
