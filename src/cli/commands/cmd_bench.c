/* roofstep bench: the training step of a model. */
#include "bench/cell/cell.h"
#include "bench/measure/rank_launch.h"
#include "cli/commands/bench_sweep.h"
#include "report/records/report.h"

#define BENCH_LISTS \
    OPTIONS_STEP, OPTION_RANKS, OPTION_PARALLEL, OPTION_BUCKET, OPTION_WARMUP, OPTION_STEPS

static bool has_ranks(const Sweep *sweep)
{
    for (int i = 0; i < sweep->n; i++) {
        if (sweep->configs[i].ranks > 1) return true;
    }
    return false;
}

/* What other programs are asked, or hook into, has one rank. */
static Status check_ranks(const Settings *settings, const Sweep *sweep)
{
    if (!has_ranks(sweep)) return ST_OK;
    if (settings->peer) return FAIL(ST_UNSUPPORTED, "--peer %s has one rank", settings->peer);
    if (settings->nvtx || settings->annotate_mha)
        return FAIL(ST_UNSUPPORTED, "--nvtx and --annotate-mha have one rank");
    return ST_OK;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    const RankLaunch launch = {.command = cmd_bench.name,
                               .options = &cmd_bench.options,
                               .launcher = settings->launcher,
                               .hosts = settings->hosts,
                               .share_gpu = settings->share_gpu,
                               .model = settings->model};
    const bool ranks = has_ranks(sweep) && !settings->dry_run;
    TRY(check_ranks(settings, sweep));
    if (ranks) TRY(rank_launch_prepare(&launch));
    const Status status = bench_sweep_run(settings, sweep, exit_code);
    if (ranks) rank_launch_finish();
    return status;
}

const Command cmd_bench = {
    .name = "bench",
    .summary = "how long forward, backward and optimizer take",
    .help =
        "Runs the training step of every cell of the sweep in its own process. Prints for each\n"
        "phase the median, 95 % interval, mean, std and samples, and tokens/s, TFLOP/s and\n"
        "memory. The first step is cold and reported apart (it is the first of --warmup). When\n"
        "training does not fit in memory, the largest mode that fits is measured.\n"
        "\n"
        "  roofstep bench --size tiny --steps 5\n"
        "  roofstep bench --size small,medium --ctx 128-1024*2 --precision fp32,bf16\n"
        "  roofstep bench --model gpt2 --ctx 256 --batch 1    (or the folder of a config.json)\n"
        "  roofstep bench --size small --out results.json     (killed? --resume results.json)\n"
        "  roofstep bench --size small,2.7B --dry-run         (what fits, and how long it takes)\n"
        "  roofstep bench --size small --until 1%             (until the interval is +-1 %, at "
        "most 60 s)\n"
        "  roofstep bench --size small --peer torch           (and PyTorch's time)\n"
        "  roofstep bench --size small --ranks 1,2,4          (data parallel: MPI, on GPUs "
        "NCCL)\n",
    .options = {.taken = OPTION_LIST(BENCH_LISTS, BENCH_SWEEP_OPTIONS, OPTION_PEER,
                                     OPTION_PEER_VARIANT, OPTION_NVTX, OPTION_ANNOTATE_MHA,
                                     OPTION_PEER_ROUNDS, OPTIONS_RANKS),
                .lists = OPTION_LIST(BENCH_LISTS),
                .formats = report_formats},
    .run = run,
    .rank_cell = cell_run_as_rank,
};
