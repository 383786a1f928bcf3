/* roofstep collective: what ranks do together, alone. */
#include "base/array.h"
#include "bench/limits/placement.h"
#include "bench/study/collective_cell.h"
#include "cli/commands/bench_output.h"
#include "cli/commands/study.h"
#include "cli/rank_cells.h"
#include "report/study/collective_report.h"

#include <stdlib.h>
#include <string.h>

#define COLLECTIVE_LISTS OPTION_OP, OPTION_BYTES, OPTION_RANKS, OPTION_PRECISION

/* Without --bytes: 1 KiB to 64 MiB. */
static const char usual[] = "1KiB-64MiB*4";
enum { USUAL = 9 };

/* Every cell once for each of the usual sizes, if none was asked for. */
static int make_cells(const Settings *settings, const Sweep *sweep, Config *cells)
{
    const int sizes = settings->given[OPTION_BYTES] ? 1 : USUAL;
    int n = 0;
    for (int i = 0; i < sweep->n; i++) {
        for (int k = 0; k < sizes; k++) {
            cells[n] = sweep->configs[i];
            if (sizes > 1) cells[n].bytes = (int64_t)1024 << 2 * k;
            n++;
        }
    }
    return n;
}

/* Which GPUs there are, the ranks say. */
static Status check(const Sweep *sweep)
{
    Placement place;
    for (int i = 0; i < sweep->n; i++) {
        if (strncmp(sweep->configs[i].device, "cuda", 4) == 0)
            return placement_find(&sweep->configs[i], &place);
    }
    return ST_OK;
}

/* ---- results ---- */

static Status report(Text *out, const Settings *settings, const RecordSet *rows)
{
    return collective_report_write(out, settings->format, rows);
}

static Status run_cell(const Config *config, CellLink *link)
{
    return rank_cells_run(config, link, NULL);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    const bool varies[OPTION_COUNT] = {[OPTION_OP] = true,
                                       [OPTION_BYTES] = true,
                                       [OPTION_RANKS] = true,
                                       [OPTION_PRECISION] = true};
    CLEANUP(array_free) Config *cells = malloc((size_t)sweep->n * USUAL * sizeof *cells);
    if (!cells) return NO_MEMORY("for %d cells", sweep->n);
    TRY(check(sweep));
    TRY(bench_output_check(settings));
    rank_cells_warn_shared(settings, sweep);
    TRY(rank_cells_prepare(&cmd_collective, settings));
    RunnerTask task = {.configs = cells,
                       .n = make_cells(settings, sweep, cells),
                       .varies = varies,
                       .cell = run_cell};
    const Status status = study_run_resumed(settings, &task, report, exit_code);
    rank_cells_finish();
    return status;
}

static const char help[] =
    "Starts --ranks processes with mpirun (srun in a Slurm allocation), each on cores of its own,\n"
    "and times what training on several of them needs: sums over all ranks and their parts. "
    "Prints\n"
    "time, algorithm and bus bandwidth as nccl-tests define them, beside the MPI library's own "
    "call\n"
    "on the same memory, in turn. Every element is checked first. A rank that dies, hangs or runs\n"
    "out of memory is a row that names it. With --device cuda each rank takes a GPU, and NCCL "
    "moves\n"
    "the bytes.\n"
    "\n"
    "  roofstep collective\n"
    "  roofstep collective --op all_reduce,all_gather --bytes 1KB-1GB*4 --ranks 2,4\n"
    "  roofstep collective --precision bf16 --bytes 25MB --ranks 4 --out sums.json\n"
    "  roofstep collective --ranks 2,4,8 --out c.json     (killed? --resume c.json)\n"
    "  roofstep collective --device cuda --ranks 8 --op all_reduce,reduce_scatter\n"
    "  roofstep collective --ranks 16 --hosts machines \\\n"
    "      --launcher 'mpirun --mca btl tcp,self'\n";

static const OptionWords words[] = {
    {.id = OPTION_BYTES, .by_default = usual},
    {.id = OPTION_DEVICE, .value = "cpu|cuda", .by_default = "cpu"},
    {.id = OPTION_PRECISION, .value = "fp32|bf16", .help = "of the elements"},
    {.id = OPTION_WARMUP, .help = "samples before measuring"},
    {.id = OPTION_STEPS, .help = "samples of each cell, at most"},
};

const Command cmd_collective = {
    .name = "collective",
    .summary = "all-reduce, all-gather, reduce-scatter, broadcast: time and bandwidth",
    .help = help,
    .options = {.taken =
                    OPTION_LIST(COLLECTIVE_LISTS, OPTION_DEVICE, OPTION_WARMUP, OPTION_STEPS,
                                OPTION_SAMPLE_TIME, OPTION_TIMEOUT, OPTION_LAUNCHER, OPTION_HOSTS,
                                OPTION_SHARE_GPU, OPTION_OUT_JSON, OPTION_RESUME, OPTIONS_OUTPUT),
                .lists = OPTION_LIST(COLLECTIVE_LISTS),
                .formats = COLLECTIVE_REPORT_FORMATS,
                .defaults = config_collective_defaults,
                .words = words,
                .n_words = sizeof words / sizeof *words},
    .run = run,
    .rank_cell = collective_cell_run,
};
