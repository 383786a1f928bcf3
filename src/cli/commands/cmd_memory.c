/* roofstep memory: where the bytes go, before the run and during it. */
#include "base/array.h"
#include "bench/cell/supported.h"
#include "bench/record/cell_label.h"
#include "bench/study/memory_run.h"
#include "cli/other_machine.h"
#include "cli/output.h"
#include "cli/plan/memory_output.h"
#include "cli/plan/plan_conclusion.h"
#include "cli/plan/planned_config.h"
#include "cli/rank_cells.h"
#include "config/cell_field.h"
#include "report/format/table_md.h"
#include "report/format/table_write.h"
#include "report/memory/memory_chart.h"
#include "report/memory/memory_snapshot.h"
#include "report/memory/memory_svg.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- run for real ---- */

/* With several cells each is followed by its forward pass; not so where ranks share the step. */
static int list_configs(Config *configs, const Sweep *sweep)
{
    int n = 0;
    for (int i = 0; i < sweep->n; i++) {
        configs[n++] = sweep->configs[i];
        if (sweep->n == 1 || sweep->configs[i].mode == MODE_FWD || sweep->configs[i].ranks > 1)
            continue;
        configs[n] = sweep->configs[i];
        configs[n++].mode = MODE_FWD;
    }
    return n;
}

static const Record *find(const RecordSet *rows, const Config *config, Mode mode)
{
    Config c = *config;
    c.mode = mode;
    return record_set_find_config(rows, &c);
}

static Status run_cell(const Config *config, CellLink *link)
{
    return config->ranks > 1 ? rank_cells_run(config, link, NULL) : memory_run_cell(config, link);
}

static Status run_all(const Config *configs, int n, const Sweep *sweep, RecordSet *rows,
                      int *exit_code)
{
    RunnerOutcome outcome;
    bool varies[OPTION_COUNT];
    memcpy(varies, sweep->varies, sizeof varies);
    varies[OPTION_MODE] = varies[OPTION_MODE] || n > sweep->n;
    const RunnerTask task = {.configs = configs, .n = n, .varies = varies, .cell = run_cell};
    TRY(runner_run(&task, rows, &outcome));
    *exit_code = outcome.signal ? EXIT_INTERRUPTED : outcome.bad ? EXIT_CELLS : 0;
    return ST_OK;
}

/* Runs two steps of every cell, and of several cells the forward pass alone too, each in a process of its
 * own. Before anything is planned here: a plan may open a GPU, after which there is no fork. */
static Status measure(const Sweep *sweep, RecordSet *rows, int *exit_code)
{
    CLEANUP(array_free) Config *configs = malloc(2 * (size_t)sweep->n * sizeof *configs);
    if (!configs) return NO_MEMORY("for %d cells", sweep->n);
    return run_all(configs, list_configs(configs, sweep), sweep, rows, exit_code);
}

/* ---- --snapshot and --svg, of a single cell ---- */

enum { STEPS = 2 };

/* Before anything runs. */
static Status check_files(const Settings *settings, const Sweep *sweep)
{
    if ((settings->snapshot || settings->svg) && sweep->n > 1)
        return FAIL(ST_USAGE,
                    "--%s is of one cell, and there are %d: give one value of each option",
                    settings->snapshot ? "snapshot" : "svg", sweep->n);
    TRY(output_check_path(settings->snapshot));
    return output_check_path(settings->svg);
}

/* The times of one step, of a run whose plan this is; NULL: there are none. */
static const json_t *step_times(const MemoryCell *cell, int step)
{
    const json_t *trace = cell->measured ? json_object_get(cell->measured, "memory_trace") : NULL;
    const json_t *times = json_object_get(json_array_get(trace, (size_t)step), "start_us");
    return json_array_size(times) == (size_t)cell->model.plan.n_nodes ? times : NULL;
}

/* Nodes of the setup ran before the first step. */
static double start_us(const void *self, int step, int node)
{
    const MemoryCell *cell = self;
    return json_number_value(json_array_get(step_times(cell, step), (size_t)node));
}

static Status write_snapshot(const char *path, const MemoryCell *cell)
{
    MemorySnapshot snapshot = {.profile = &cell->profile, .steps = STEPS};
    if (step_times(cell, 0) && step_times(cell, 1)) {
        snapshot.start_us = start_us;
        snapshot.self = cell;
        snapshot.epoch_us = (int64_t)time(NULL) * 1000000;
    }
    return memory_snapshot_write(&snapshot, path);
}

static Status write_svg(const char *path, const MemoryCell *cell)
{
    const Config used = planned_config_used(cell->config, &cell->placement, cell->attention);
    bool shown[OPTION_COUNT] = {0};
    CLEANUP(text_free) Text svg = {0};
    for (int id = 0; id < CELL_FIELD_COUNT; id++) shown[id] = cell_field_is_work(id);
    TRY(memory_svg(&svg, &cell->profile, cell_label(&used, shown).s));
    return text_write_file(path, text_str(&svg), svg.n);
}

static Status write_files(const Settings *settings, const MemoryCell *cell)
{
    if (cell->unsupported) return ST_OK;
    if (settings->snapshot) TRY(write_snapshot(settings->snapshot, cell));
    return settings->svg ? write_svg(settings->svg, cell) : ST_OK;
}

/* ---- tables ---- */

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
    const bool many = sweep->n > 1 || cells[0].unsupported;
    CLEANUP(text_free) Text conclusion = {0};
    TRY(many ? memory_tables_many(out, format, sweep, cells)
             : memory_tables_one(out, format, settings, sweep, &cells[0]));
    TRY(memory_ranks_tables(out, format, sweep, cells));
    if (!many && strcmp(format, "md") == 0) {
        text_puts(out, "\n```\n");
        TRY(memory_chart(out, &cells[0].profile, shows_unicode(), table_md_columns()));
        text_puts(out, "```\n");
    }
    plan_conclusion_memory(&conclusion, sweep, cells);
    return table_write_conclusion(out, format, &conclusion);
}

/* Each with its records, which belong to `rows`. */
static Status make_cells(MemoryCell *cells, const Sweep *sweep, const Limits *machine,
                         const RecordSet *rows)
{
    int n = 0;
    for (int i = 0; i < sweep->n; i++) {
        TRY(memory_cell_make(&cells[i], &sweep->configs[i], machine, sweep->n == 1));
        cells[i].measured = find(rows, &sweep->configs[i], sweep->configs[i].mode);
        cells[i].measured_forward = find(rows, &sweep->configs[i], MODE_FWD);
        n += !cells[i].unsupported;
    }
    return n > 0 ? ST_OK : supported_none(sweep->n, cells[0].message);
}

static Status write_cells(const Settings *settings, const Sweep *sweep, const MemoryCell *cells,
                          const RecordSet *rows)
{
    CLEANUP(text_free) Text text = {0};
    if (strcmp(settings->format, "json") == 0)
        TRY(memory_json_write(&text, cells, sweep->n, json_array_get(rows->environments, 0)));
    else
        TRY(write_tables(&text, settings, sweep, cells));
    TRY(write_files(settings, &cells[0]));
    return output_text(settings, &text);
}

static Status run_sweep(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    Limits limits;
    const Limits *machine;
    TRY(other_machine_check(settings, settings->plan_only, "--plan-only"));
    TRY(other_machine_read(settings, &limits, &machine));
    if (!settings->plan_only)
        TRY(supported_any(&(RunnerTask){.configs = sweep->configs, .n = sweep->n}));
    TRY(check_files(settings, sweep));
    TRY(output_check_file(settings));
    CLEANUP(record_set_free) RecordSet rows = {0};
    TRY(output_rows_init(&rows, settings));
    if (!settings->plan_only) TRY(measure(sweep, &rows, exit_code));
    CLEANUP(array_free) MemoryCell *cells = calloc((size_t)sweep->n, sizeof *cells);
    if (!cells) return NO_MEMORY("for %d cells", sweep->n);
    Status status = make_cells(cells, sweep, machine, &rows);
    if (status == ST_OK) status = write_cells(settings, sweep, cells, &rows);
    for (int i = 0; i < sweep->n; i++) memory_cell_free(&cells[i]);
    return status;
}

static Status run_ranks(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    const bool runs = !settings->plan_only;
    if (runs) TRY(rank_cells_prepare(&cmd_memory, settings));
    const Status status = run_sweep(settings, sweep, exit_code);
    if (runs) rank_cells_finish();
    return status;
}

/* Every cell as its ranks run it, and where no way was asked for, in each way to share its step. */
static Status spread(Sweep *all, const Settings *settings, const Sweep *sweep)
{
    int ways = 0;
    while (config_parallels[ways]) ways++;
    all->configs = malloc((size_t)ways * (size_t)sweep->n * sizeof *all->configs);
    if (!all->configs) return NO_MEMORY("for %d cells", ways * sweep->n);
    for (int i = 0; i < sweep->n; i++) {
        const bool each = sweep->configs[i].ranks > 1 && !settings->given[OPTION_PARALLEL];
        for (int p = 0; p < (each ? ways : 1); p++) {
            Config *config = &all->configs[all->n++];
            *config = rank_cells_settle(settings, &sweep->configs[i]);
            if (each) config->parallel = (Parallel)p;
            if (config->parallel != PARALLEL_DDP) config->bucket = 0;
        }
    }
    sweep_find_varying(all);
    return ST_OK;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    CLEANUP(sweep_free) Sweep all = {0};
    if (!rank_cells_any(sweep)) return run_sweep(settings, sweep, exit_code);
    TRY(spread(&all, settings, sweep));
    return run_ranks(settings, &all, exit_code);
}

/* Two steps: the second shows what the first leaves allocated. */
static void defaults(Config *config)
{
    config_defaults(config);
    config->warmup = 0;
    config->steps = 2;
}

static const OptionWords words[] = {{.id = OPTION_PARALLEL, .by_default = "each of them"}};

static const char help[] =
    "Prints where the bytes of a step go: the peak of each phase by use (first and later\n"
    "steps), what stays between steps, the largest tensors at the peak, what a block saves for\n"
    "backward, and a chart. For several cells: one table, forward against training. Runs two\n"
    "steps of each cell, in its own process, and compares the plan with the device; --plan-only\n"
    "runs nothing, so any size works.\n"
    "\n"
    "  roofstep memory --size small\n"
    "  roofstep memory --plan-only --snapshot memory.pickle --svg memory.svg\n"
    "  roofstep memory --size small --ranks 2           (each rank, each --parallel)\n"
    "  roofstep memory --ctx 128,256,512 --precision fp32,bf16 --plan-only\n"
    "  roofstep memory --plan-only --gpu rtx3070        (a GPU that is not here)\n";

const Command cmd_memory = {
    .name = "memory",
    .summary = "where the bytes go: timeline, peaks by phase and use, largest tensors",
    .help = help,
    .options = {.taken = OPTION_LIST(OPTIONS_PLAN, OPTIONS_RANKS, OPTIONS_OUTPUT, OPTION_CLIP,
                                     OPTION_LOSS_SCALE, OPTION_PLAN_ONLY, OPTION_LIMITS, OPTION_GPU,
                                     OPTION_TOP, OPTION_SEED, OPTION_LR, OPTION_MEMORY_LIMIT,
                                     OPTION_TIMEOUT, OPTION_SNAPSHOT, OPTION_SVG),
                .lists = OPTION_LIST(OPTIONS_PLAN, OPTION_RANKS, OPTION_PARALLEL, OPTION_BUCKET),
                .formats = "md json latex typst",
                .defaults = defaults,
                .words = words,
                .n_words = sizeof words / sizeof *words},
    .run = run,
    .rank_cell = memory_run_as_rank,
};
