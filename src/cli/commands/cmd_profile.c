/* roofstep profile: where the time of a step goes. */
#include "base/json_text.h"
#include "base/log.h"
#include "bench/cell/supported.h"
#include "bench/study/profile_cell.h"
#include "cli/command.h"
#include "cli/commands/bench_dry_run.h"
#include "cli/commands/profile_output.h"
#include "cli/other_machine.h"
#include "cli/output.h"
#include "cli/rank_cells.h"
#include "report/profile/nsys_folder.h"
#include "report/profile/profile_tables.h"

#include <stdlib.h>
#include <string.h>

#define PROFILE_LISTS \
    OPTIONS_STEP, OPTION_RANKS, OPTION_PARALLEL, OPTION_BUCKET, OPTION_WARMUP, OPTION_STEPS

/* ---- cells ---- */

/* Cells run in processes that are forked from this one and read this. */
static ProfileOutput output;

static Status run_here(const Config *config, CellLink *link)
{
    const ProfileTask task = {.trace_steps = output.settings->trace_steps,
                              .nvtx = output.settings->nvtx,
                              .annotate_mha = output.settings->annotate_mha,
                              .self = &output,
                              .write = profile_output_trace};
    return profile_cell_run(config, link, &task);
}

static Status run_cell(const Config *config, CellLink *link)
{
    ProfileRankWords words;
    if (config->ranks <= 1) return run_here(config, link);
    TRY(profile_output_words(&output, config, &words));
    return rank_cells_run(config, link, words.list);
}

static Status run_as_rank(const Settings *settings, const Config *config, CellLink *link)
{
    const Sweep one = {.configs = (Config *)config, .n = 1};
    output = (ProfileOutput){.settings = settings, .sweep = &one};
    return run_here(config, link);
}

static int find_word(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++) {
        if (strcmp(word, list[i]) == 0) return i;
    }
    return -1;
}

/* The cell with the other --exec or --precision. */
static Config changed(Config cell, int exec, int precision)
{
    if (exec >= 0)
        cell.exec = (Exec)exec;
    else
        cell.precision = (Precision)precision;
    return cell;
}

static bool is_same(const Config *a, const Config *b)
{
    char key[RECORD_KEY_SIZE], other[RECORD_KEY_SIZE];
    record_key_of_config(a, key);
    record_key_of_config(b, other);
    return strcmp(key, other) == 0;
}

static bool is_listed(const Sweep *sweep, const Config *cell)
{
    for (int i = 0; i < sweep->n; i++) {
        if (is_same(&sweep->configs[i], cell)) return true;
    }
    return false;
}

/* Every cell of the sweep, and after it the other one, once. */
static Status double_cells(Sweep *both, const Sweep *sweep, const char *against)
{
    const int exec = find_word(against, config_execs);
    const int precision = find_word(against, config_precisions);
    if (exec < 0 && precision < 0)
        return FAIL(ST_USAGE,
                    "--against '%s': give eager, fused or graph, or a precision such as "
                    "bf16",
                    against);
    both->configs = malloc(2 * (size_t)sweep->n * sizeof *both->configs);
    if (!both->configs) return NO_MEMORY("for %d cells", 2 * sweep->n);
    bool differs = false;
    for (int i = 0; i < sweep->n; i++) {
        const Config pair[] = {sweep->configs[i], changed(sweep->configs[i], exec, precision)};
        for (int k = 0; k < 2; k++) {
            if (!is_listed(both, &pair[k])) both->configs[both->n++] = pair[k];
        }
        differs = differs || !is_same(&pair[0], &pair[1]);
    }
    sweep_find_varying(both);
    if (differs) return ST_OK;
    return FAIL(ST_USAGE, "--against %s: every cell has that already", against);
}

/* ---- tables ---- */

static ProfileTables tables_of(const Settings *settings)
{
    return (ProfileTables){
        .format = settings->format, .top = settings->top, .source = settings->source};
}

static Status show(const Settings *settings, const RecordSet *rows)
{
    const ProfileTables how = tables_of(settings);
    Text text = {0};
    const bool json = strcmp(settings->format, "json") == 0;
    return output_finish(settings, &text,
                         json ? record_file_json(&text, rows)
                              : profile_tables_write(&text, &how, rows));
}

static Status put_json(Text *text, const json_t *profiles)
{
    CLEANUP(json_text_free)
    json_t *file = json_pack("{s:i, s:O}", "schema", RECORD_SCHEMA, "nsys", profiles);
    json_text_put(text, file, JSON_COMPACT | JSON_REAL_PRECISION(15));
    text_puts(text, "\n");
    return text_status(text);
}

/* Shows the CSVs that nsys stats wrote. */
static Status show_nsys(const Settings *settings)
{
    const ProfileTables how = tables_of(settings);
    CLEANUP(json_text_free) json_t *profiles = NULL;
    Text text = {0};
    TRY(nsys_folder_read(&profiles, settings->from));
    Status status = strcmp(settings->format, "json") == 0
                        ? put_json(&text, profiles)
                        : profile_nsys_tables_write(&text, &how, profiles);
    return output_finish(settings, &text, status);
}

static Status show_earlier(const Settings *settings)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    bool there;
    TRY(record_set_init(&rows, NULL));
    TRY(profile_output_read(&rows, settings->from, &there));
    return there ? show(settings, &rows) : show_nsys(settings);
}

static Status run_cells(const Settings *settings, const Sweep *sweep, RecordSet *rows,
                        int *exit_code)
{
    RunnerOutcome outcome;
    const RunnerTask task = {.configs = sweep->configs,
                             .n = sweep->n,
                             .varies = sweep->varies,
                             .cell = run_cell,
                             .self = &output,
                             .finished = profile_output_add};
    TRY(profile_output_open(&output, settings, sweep, rows));
    Status status = output_check_file(settings); /* it may be in the folder that was just made */
    if (status == ST_OK) status = runner_run(&task, rows, &outcome);
    if (status == ST_OK) status = profile_output_clean(&output, rows);
    if (status == ST_OK) status = profile_output_finish(&output, rows);
    profile_output_close(&output);
    TRY(status);
    TRY(supported_rows(rows));
    if (record_set_size(rows) > 0) TRY(show(settings, rows));
    if (outcome.signal)
        log_note("interrupted: %zu of %d cells are done", record_set_size(rows), sweep->n);
    *exit_code = outcome.signal ? EXIT_INTERRUPTED : outcome.bad ? EXIT_CELLS : 0;
    return ST_OK;
}

static Status run_or_plan(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    TRY(other_machine_check(settings, settings->dry_run, "--dry-run"));
    if (settings->dry_run) return bench_dry_run(settings, sweep, &rows);
    TRY(supported_any(&(RunnerTask){.configs = sweep->configs, .n = sweep->n}));
    TRY(output_rows_init(&rows, settings));
    if (!rank_cells_any(sweep)) return run_cells(settings, sweep, &rows, exit_code);
    rank_cells_warn_shared(settings, sweep);
    TRY(rank_cells_prepare(&cmd_profile, settings));
    const Status status = run_cells(settings, sweep, &rows, exit_code);
    rank_cells_finish();
    return status;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    if (settings->from) return show_earlier(settings);
    TRY(profile_output_check(settings));
    if (rank_cells_any(sweep)) TRY(rank_cells_check(settings));
    TRY(output_check_nvtx(settings));
    if (!settings->against) return run_or_plan(settings, sweep, exit_code);
    CLEANUP(sweep_free) Sweep both = {0};
    TRY(double_cells(&both, sweep, settings->against));
    return run_or_plan(settings, &both, exit_code);
}

static const char help[] =
    "Measures every cell as bench does, then runs --steps again with profiling on. Prints the\n"
    "profiling overhead, phases, parts of attention, time by category, the slowest kernels (on\n"
    "a CPU: ops) of each phase, every op against the machine's limits, and interference from\n"
    "the device and the operating system. With several cells: one row each.\n"
    "\n"
    "  roofstep profile --size tiny\n"
    "  roofstep profile --size tiny --against eager     (what fusing brings)\n"
    "  roofstep profile --precision fp8 --against bf16  (on a GPU: what fp8 pays for)\n"
    "  roofstep profile --size small --ctx 128-1024*2   (one row per context)\n"
    "  roofstep profile --size tiny --out-dir prof      (--from prof shows it)\n"
    "  roofstep profile --size tiny --ranks 2           (what ranks send each other)\n"
    "  roofstep profile --from nsys                     (CSVs of nsys stats)\n";

const Command cmd_profile = {
    .name = "profile",
    .summary = "where the time goes: phases, attention, kernels, gaps; traces and CSVs",
    .help = help,
    .options = {.taken = OPTION_LIST(PROFILE_LISTS, OPTIONS_OUTPUT, OPTION_MEMORY_LIMIT,
                                     OPTION_TIMEOUT, OPTION_DRY_RUN, OPTION_LIMITS, OPTION_GPU,
                                     OPTION_AGAINST, OPTION_TRACE_STEPS, OPTION_OUT_DIR,
                                     OPTION_PREFIX, OPTION_FROM, OPTION_SOURCE, OPTION_TOP,
                                     OPTION_NVTX, OPTION_ANNOTATE_MHA, OPTION_STAT, OPTIONS_RANKS),
                .lists = OPTION_LIST(PROFILE_LISTS),
                .formats = "md json latex typst"},
    .run = run,
    .rank_cell = run_as_rank,
};
