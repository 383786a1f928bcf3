/* roofstep plan: what a step costs and what fits, without running it. */
#include "base/array.h"
#include "bench/cell/supported.h"
#include "bench/estimate/fit.h"
#include "cli/command.h"
#include "cli/other_machine.h"
#include "cli/output.h"
#include "cli/plan/plan_output.h"
#include "cli/plan/rank_options.h"

#include <stdlib.h>
#include <string.h>

static Status make_cells(PlanCell *cells, const Settings *settings, const Sweep *sweep,
                         const Limits *machine, const RankOptions *ranks)
{
    PlanRoom room = {.limits = settings->memory_limits,
                     .n_limits = settings->n_memory_limits,
                     .usual = settings->given[OPTION_MODEL],
                     .machine = machine};
    int n = 0;
    rank_options_put(ranks, &room);
    TRY(fit_resident(&room.resident));
    for (int i = 0; i < sweep->n; i++) {
        TRY(plan_cell_make(&cells[i], &sweep->configs[i], &room));
        n += !cells[i].unsupported;
    }
    return n > 0 ? ST_OK : supported_none(sweep->n, cells[0].message);
}

static Status format_cells(Text *out, const Settings *settings, const Sweep *sweep,
                           const PlanCell *cells, const Limits *machine)
{
    const char *format = settings->format;
    if (strcmp(format, "json") == 0) return plan_json_write(out, cells, sweep->n, machine);
    if (strcmp(format, "csv") == 0) return plan_json_csv(out, cells, sweep->n, machine);
    const PlanTables tables = {sweep, cells, machine};
    return plan_tables_write(out, format, &tables);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)exit_code;
    Text text = {0};
    Limits limits;
    const Limits *machine;
    CLEANUP(rank_options_free) RankOptions ranks = {0};
    TRY(other_machine_read(settings, &limits, &machine));
    TRY(rank_options_read(&ranks, settings, sweep, machine));
    CLEANUP(array_free) PlanCell *cells = calloc((size_t)sweep->n, sizeof *cells);
    if (!cells) return NO_MEMORY("for %d cells", sweep->n);
    Status status = make_cells(cells, settings, sweep, machine, &ranks);
    if (status == ST_OK) status = format_cells(&text, settings, sweep, cells, machine);
    return output_finish(settings, &text, status);
}

static const char help[] =
    "Plans the step of every cell without running it and prints parameters, FLOPs, bytes,\n"
    "nodes, memory, and what fits in --memory-limit: the largest mode, batch and context, with\n"
    "and without recomputation, and what to change where it does not fit. Needs no device.\n"
    "--model shows what fits in 8, 16, 24, 80 and 141 GiB. For a single cell also prints the\n"
    "cost of each phase and part, and the peak memory by kind of tensor. --limits FILE plans\n"
    "for another machine: the file is what 'roofstep limits --format json' printed there. --gpu\n"
    "NAME does so by a GPU's data sheet; --gpu list shows which there are.\n"
    "\n"
    "--ranks N: the memory of one of them, what it sends, and a forecast of their step, from the\n"
    "step of one rank (--step, or the roof) and the links between them: --link of ranks on one\n"
    "machine (what 'roofstep limits' measured by default), --node-link between machines.\n"
    "\n"
    "  roofstep plan --size small\n"
    "  roofstep plan --model list\n"
    "  roofstep plan --model llama-3.2-1b --precision bf16 --ctx 2048\n"
    "  roofstep plan --size small,medium,large,xl,2.7B --precision fp32,bf16\n"
    "  roofstep plan --size xl --ctx 512 --memory-limit 24GiB,80GiB\n"
    "  roofstep plan --size xl --limits h200.json --precision bf16\n"
    "  roofstep plan --gpu rtx3070 --model qwen3-0.6b --precision bf16\n"
    "  roofstep plan --size 10B --mode fwd --out plan.csv\n"
    "  roofstep plan --size small --threads 1 --ranks 1,2,4 --step results.json\n"
    "  roofstep plan --size 2.7B --limits h200.json --ranks 8-1024*2 \\\n"
    "      --ranks-per-node 8 --link 450GB/s,5us --node-link 50GB/s,10us\n";

const Command cmd_plan = {
    .name = "plan",
    .summary = "parameters, FLOPs, bytes, memory and what fits, without running",
    .help = help,
    .options = {.taken =
                    OPTION_LIST(OPTIONS_PLAN, OPTIONS_PARALLEL, OPTIONS_OUTPUT, OPTION_CLIP,
                                OPTION_LOSS_SCALE, OPTION_MEMORY_LIMIT, OPTION_LIMITS, OPTION_GPU,
                                OPTION_STEP, OPTION_RANKS_PER_NODE, OPTION_LINK, OPTION_NODE_LINK),
                .lists = OPTION_LIST(OPTIONS_PLAN, OPTIONS_PARALLEL, OPTION_MEMORY_LIMIT),
                .formats = "md csv json latex typst"},
    .run = run,
};
