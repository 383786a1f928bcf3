/* roofstep bench: the training step of a model. */
#include "bench/cell/cell.h"
#include "cli/commands/bench_sweep.h"
#include "cli/rank_cells.h"
#include "report/records/report.h"

#define BENCH_LISTS OPTIONS_STEP, OPTIONS_PARALLEL, OPTION_WARMUP, OPTION_STEPS

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    const bool ranks = rank_cells_any(sweep);
    const bool runs = ranks && !settings->dry_run;
    if (ranks) TRY(rank_cells_check(settings));
    if (runs) rank_cells_warn_shared(settings, sweep);
    if (runs) TRY(rank_cells_prepare(&cmd_bench, settings));
    const Status status = bench_sweep_run(settings, sweep, exit_code);
    if (runs) rank_cells_finish();
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
        "  roofstep bench --model gpt2 --ctx 256       (or the folder of a config.json)\n"
        "  roofstep bench --size small --out a.json    (killed? --resume a.json)\n"
        "  roofstep bench --size small,2.7B --dry-run  (what fits, and how long it takes)\n"
        "  roofstep bench --size small --until 1%      (to +-1 %, or 60 s long)\n"
        "  roofstep bench --size small --peer torch    (and PyTorch's time)\n"
        "  roofstep bench --size small --price 2.49/h  (tokens for one unit of money)\n"
        "  roofstep bench --size small --ranks 1,2,4   (data parallel: MPI, on GPUs NCCL)\n",
    .options = {.taken = OPTION_LIST(BENCH_LISTS, BENCH_SWEEP_OPTIONS, OPTION_PEER,
                                     OPTION_PEER_VARIANT, OPTION_NVTX, OPTION_ANNOTATE_MHA,
                                     OPTION_PEER_ROUNDS, OPTIONS_RANKS, OPTION_PRICE),
                .lists = OPTION_LIST(BENCH_LISTS),
                .formats = report_formats},
    .run = run,
    .rank_cell = cell_run_as_rank,
};
