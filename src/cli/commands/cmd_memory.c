/* roofstep memory: where the bytes go, before the run and during it. */
#include "base/array.h"
#include "bench/cell/supported.h"
#include "cli/other_machine.h"
#include "cli/output.h"
#include "cli/plan/memory_files.h"
#include "cli/plan/memory_json.h"
#include "cli/plan/memory_measure.h"
#include "cli/plan/memory_tables.h"
#include "report/format/table_md.h"
#include "report/memory/memory_chart.h"

#include <stdlib.h>
#include <string.h>

/* Decides as setlocale() would, without changing how numbers are written. */
static bool shows_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static Status write_tables(Text *out, const Settings *settings, const Sweep *sweep,
                           const MemoryCell *cells)
{
    const char *format = settings->format;
    if (sweep->n > 1 || cells[0].unsupported) return memory_tables_many(out, format, sweep, cells);
    TRY(memory_tables_one(out, format, settings, sweep, &cells[0]));
    if (strcmp(format, "md") != 0) return ST_OK;
    text_puts(out, "\n```\n");
    TRY(memory_chart(out, &cells[0].profile, shows_unicode(), table_md_columns()));
    text_puts(out, "```\n");
    return text_status(out);
}

static Status make_cells(MemoryCell *cells, const Sweep *sweep, const Limits *machine)
{
    int n = 0;
    for (int i = 0; i < sweep->n; i++) {
        TRY(memory_cell_make(&cells[i], &sweep->configs[i], machine, sweep->n == 1));
        n += !cells[i].unsupported;
    }
    return n > 0 ? ST_OK : supported_none(sweep->n, cells[0].message);
}

static Status write_all(const Settings *settings, const Sweep *sweep, const MemoryCell *cells,
                        json_t *environment)
{
    Text text = {0};
    Status status = strcmp(settings->format, "json") == 0
                        ? memory_json_write(&text, cells, sweep->n, environment)
                        : write_tables(&text, settings, sweep, cells);
    if (status == ST_OK) status = memory_files_write(settings, &cells[0]);
    return output_finish(settings, &text, status);
}

static Status run_cells(const Settings *settings, const Sweep *sweep, MemoryCell *cells,
                        int *exit_code)
{
    RecordSet rows;
    Status status = ST_OK;
    TRY(output_rows_init(&rows, settings));
    if (!settings->plan_only) status = memory_measure(cells, sweep, &rows, exit_code);
    if (status == ST_OK)
        status = write_all(settings, sweep, cells, json_array_get(rows.environments, 0));
    record_set_free(&rows);
    return status;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    Limits limits;
    const Limits *machine;
    TRY(other_machine_check(settings, settings->plan_only, "--plan-only"));
    TRY(other_machine_read(settings, &limits, &machine));
    if (!settings->plan_only)
        TRY(supported_any(&(RunnerTask){.configs = sweep->configs, .n = sweep->n}));
    TRY(memory_files_check(settings, sweep));
    TRY(output_check_file(settings));
    CLEANUP(array_free) MemoryCell *cells = calloc((size_t)sweep->n, sizeof *cells);
    if (!cells) return NO_MEMORY("for %d cells", sweep->n);
    Status status = make_cells(cells, sweep, machine);
    if (status == ST_OK) status = run_cells(settings, sweep, cells, exit_code);
    for (int i = 0; i < sweep->n; i++) memory_cell_free(&cells[i]);
    return status;
}

/* Two steps: the second shows what the first leaves allocated. */
static void defaults(Config *config)
{
    config_defaults(config);
    config->warmup = 0;
    config->steps = 2;
}

static const char help[] =
    "Prints where the bytes of a step go: the peak of each phase by use (first and later\n"
    "steps), what stays between steps, the largest tensors at the peak, what a block saves for\n"
    "backward, and a chart. For several cells: one table, forward against training. Runs two\n"
    "steps of each cell, in its own process, and compares the plan with the device; --plan-only\n"
    "runs nothing, so any size works.\n"
    "\n"
    "  roofstep memory --size small\n"
    "  roofstep memory --size medium --plan-only --snapshot memory.pickle --svg memory.svg\n"
    "  roofstep memory --size medium --ctx 128,256,512 --precision fp32,bf16 --plan-only\n";

const Command cmd_memory = {
    .name = "memory",
    .summary = "where the bytes go: timeline, peaks by phase and use, largest tensors",
    .help = help,
    .options = {.taken =
                    OPTION_LIST(OPTIONS_PLAN, OPTIONS_OUTPUT, OPTION_CLIP, OPTION_LOSS_SCALE,
                                OPTION_PLAN_ONLY, OPTION_LIMITS, OPTION_TOP, OPTION_SEED, OPTION_LR,
                                OPTION_MEMORY_LIMIT, OPTION_TIMEOUT, OPTION_SNAPSHOT, OPTION_SVG),
                .lists = OPTION_LIST(OPTIONS_PLAN),
                .formats = "md json latex typst",
                .defaults = defaults},
    .run = run,
};
