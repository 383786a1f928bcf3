#include "bench/cell/cell_ranks.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/i64.h"
#include "base/json_text.h"
#include "base/stats.h"
#include "comm/nccl_comm.h"
#include "model/step_cost.h"

#include <math.h>
#include <stdlib.h>

static const double mib = 1024.0 * 1024.0;

Status cell_ranks_config(const Comm *comm, const Config *config, Config *own)
{
    *own = *config;
    own->rank = comm_rank(comm);
    return comm_check_ranks(comm, config->ranks);
}

Status cell_ranks_agree(Comm *comm, bool *goes_on)
{
    return comm_broadcast(comm, goes_on, sizeof *goes_on, 0);
}

/* All look before anyone takes memory, and go by the least of what they saw. */
Status cell_ranks_fit(Comm *comm, Fit *fit, const Config *config, const Placement *placement)
{
    size_t resident = 0, available = 0;
    TRY(fit_resident(&resident));
    TRY(fit_available(config, placement, NULL, resident, &available));
    double seen[] = {(double)resident, -(double)available};
    TRY(comm_largest(comm, seen, 2));
    return fit_make(fit, config, placement, (size_t)seen[0],
                    available > 0 ? (size_t)-seen[1] : SIZE_MAX);
}

Status cell_ranks_slowest(Comm *comm, Sample *sample)
{
    for (int s = 0; s < SAMPLE_COUNT; s++) {
        if (isnan(sample->seconds[s])) sample->seconds[s] = -1; /* MPI has no order for it */
    }
    TRY(comm_largest(comm, sample->seconds, SAMPLE_COUNT));
    for (int s = 0; s < SAMPLE_COUNT; s++) {
        if (sample->seconds[s] < 0) sample->seconds[s] = NAN;
    }
    return ST_OK;
}

Status cell_ranks_gather(Comm *comm, double own, double *of_ranks)
{
    for (int r = 0; r < comm_ranks(comm); r++) of_ranks[r] = r == comm_rank(comm) ? own : -INFINITY;
    return comm_largest(comm, of_ranks, comm_ranks(comm));
}

/* ---- what it cost ---- */

/* A step of ranks takes as long as that of the slowest. */
static Status time_step(const CellOpen *cell, Comm *comm, bool alone, double *seconds)
{
    Session *s = cell->session;
    TRY(comm_barrier(comm));
    const double begun = clock_seconds();
    s->alone = alone;
    const Status status = session_run_step(s);
    s->alone = false;
    TRY(status);
    TRY(s->api->sync(s->backend));
    *seconds = clock_seconds() - begun;
    return comm_largest(comm, seconds, 1);
}

/* With and without collectives in turn, so that both meet the machine in the same state: medians of the step
 * without, and of the difference. */
static Status time_alone(const CellOpen *cell, Comm *comm, int n, double *alone, double *exposed)
{
    CLEANUP(sample_list_free) SampleList without = {0}, more = {0};
    for (int i = 0; i < n; i++) {
        double with = 0, quiet = 0;
        TRY(time_step(cell, comm, false, &with));
        TRY(time_step(cell, comm, true, &quiet));
        TRY(sample_list_add(&without, quiet));
        TRY(sample_list_add(&more, with - quiet));
    }
    *alone = stats_summary(without.seconds, without.n).median;
    *exposed = fmax(stats_summary(more.seconds, more.n).median, 0);
    return ST_OK;
}

static Status put_ranks(Record *r, const double *ms, int n)
{
    const StatsSummary s = stats_summary(ms, n);
    int slowest = 0;
    for (int i = 1; i < n; i++) {
        if (ms[i] > ms[slowest]) slowest = i;
    }
    TRY(record_put_number(r, "rank_min_ms", s.min));
    TRY(record_put_number(r, "rank_median_ms", s.median));
    TRY(record_put_number(r, "rank_max_ms", s.max));
    return record_put_int(r, "slowest_rank", slowest);
}

/* fsdp has nothing to compute with when its parameters are not gathered: what is left in memory may be
 * numbers that take a CPU longer. */
static bool needs_gathers(const CellOpen *cell)
{
    return cell->config->parallel == PARALLEL_FSDP && cell->placement->backend == BACKEND_cpu;
}

bool cell_ranks_exposes(Parallel parallel, double step, double communication, double exposed)
{
    static const double most = 0.75, little = 0.05;
    if (parallel == PARALLEL_DDP_NAIVE || parallel == PARALLEL_DDP_FLAT) return false;
    return communication >= little * step && exposed >= most * communication;
}

Status cell_ranks_tell(Comm *comm, const CellOpen *cell, const SampleList *steps, double seconds,
                       double waited)
{
    enum { MOST = 10 };
    const int n = (int)i64_min(steps->n, MOST);
    const double step = stats_summary(steps->seconds, steps->n).median;
    double alone = 0, mean[2] = {seconds / steps->n, waited / steps->n};
    CLEANUP(array_free) double *of_ranks = malloc((size_t)comm_ranks(comm) * sizeof *of_ranks);
    CLEANUP(json_text_free) Record *r = json_object();
    if (!of_ranks || !r) return NO_MEMORY("for figures of ranks");
    if (!needs_gathers(cell)) TRY(time_alone(cell, comm, n, &alone, &mean[1]));
    TRY(cell_ranks_gather(comm, 1e3 * step, of_ranks));
    TRY(put_ranks(r, of_ranks, comm_ranks(comm)));
    TRY(comm_largest(comm, mean, 2));
    if (alone > 0) TRY(record_put_number(r, "alone_ms", 1e3 * alone));
    TRY(record_put_number(r, "communication_ms", 1e3 * mean[0]));
    TRY(record_put_number(r, "exposed_ms", 1e3 * mean[1]));
    if (cell_ranks_exposes(cell->config->parallel, step, mean[0], mean[1]))
        TRY(cell_link_warning(cell->link,
                              "nearly all communication is exposed, because little is computed "
                              "beside it: a larger --batch or --ctx hides more"));
    TRY(record_put_number(r, "wire_mib", step_cost_of(&cell->fit->model.plan).step.wire / mib));
    TRY(record_put_text(r, "path", comm_path(comm)));
    TRY(record_put_text(r, "mpi", comm_library_version(comm)));
    if (comm_gpu_nccl(comm))
        TRY(record_put_text(r, "nccl", nccl_comm_version(comm_gpu_nccl(comm))));
    return cell_link_facts(cell->link, r);
}
