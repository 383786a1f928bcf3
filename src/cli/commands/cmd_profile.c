/* roofstep profile: where the time of a step goes. */
#include "base/json_text.h"
#include "base/log.h"
#include "base/temp_file.h"
#include "bench/cell/supported.h"
#include "bench/estimate/time_estimate.h"
#include "bench/record/environment.h"
#include "bench/study/profile_cell.h"
#include "cli/command.h"
#include "cli/commands/bench_dry_run.h"
#include "cli/commands/profile_output.h"
#include "cli/other_machine.h"
#include "cli/output.h"
#include "report/profile/nsys_folder.h"
#include "report/profile/profile_nsys_tables.h"
#include "report/profile/profile_tables.h"

#include <stdlib.h>
#include <string.h>

#define PROFILE_LISTS (OPTIONS_STEP | OPTION_BIT(WARMUP) | OPTION_BIT(STEPS))

/* ---- what is run ---- */

/* What a cell is asked for beside its config; it runs in a process that is forked from this one. */
static ProfileOutput output;

static Status run_cell(const Config *config, CellLink *link)
{
    const ProfileTask task = {.trace_steps = output.settings->trace_steps,
                              .nvtx = output.settings->nvtx,
                              .annotate_mha = output.settings->annotate_mha,
                              .self = &output,
                              .write = profile_output_trace};
    return profile_cell_run(config, link, &task);
}

static Status find_exec(const char *word, Exec *exec)
{
    for (int i = 0; config_execs[i]; i++) {
        if (strcmp(word, config_execs[i]) != 0) continue;
        *exec = (Exec)i;
        return ST_OK;
    }
    return FAIL(ST_USAGE, "--against '%s': give eager, fused or graph", word);
}

/* Every cell, and after it the same one in the other style. */
static Status double_cells(Sweep *sweep, const char *against)
{
    Exec exec = EXEC_EAGER;
    TRY(find_exec(against, &exec));
    Config *both = malloc(2 * (size_t)sweep->n * sizeof *both);
    if (!both) return NO_MEMORY("for %d cells", 2 * sweep->n);
    int n = 0;
    for (int i = 0; i < sweep->n; i++) {
        both[n++] = sweep->configs[i];
        if (sweep->configs[i].exec == exec) continue;
        both[n] = sweep->configs[i];
        both[n++].exec = exec;
    }
    const bool added = n > sweep->n;
    sweep->configs = both;
    sweep->n = n;
    sweep->varies[OPTION_EXEC] = sweep->varies[OPTION_EXEC] || added;
    if (added) return ST_OK;
    free(both);
    return FAIL(ST_USAGE, "--against %s: that is what --exec says already", against);
}

/* ---- what is shown ---- */

static ProfileTables tables_of(const Settings *settings)
{
    return (ProfileTables){
        .format = settings->format, .top = settings->top, .source = settings->source};
}

static Status show(const Settings *settings, const RecordSet *rows)
{
    const ProfileTables how = tables_of(settings);
    Text text = {0};
    Status status = strcmp(settings->format, "json") == 0 ? record_file_json(&text, rows)
                                                          : profile_tables_write(&text, &how, rows);
    if (status == ST_OK) status = output_text(settings, &text);
    text_free(&text);
    return status;
}

static Status put_json(Text *text, const json_t *profiles)
{
    json_t *file = json_pack("{s:i, s:O}", "schema", RECORD_SCHEMA, "nsys", profiles);
    char *dump = file ? json_text_dumps(file, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    Status status = dump ? ST_OK : NO_MEMORY("for the profiles as JSON");
    if (dump) text_printf(text, "%s\n", dump);
    if (status == ST_OK) status = text_status(text);
    json_decref(file);
    free(dump);
    return status;
}

/* The CSVs that nsys stats wrote. */
static Status show_nsys(const Settings *settings)
{
    const ProfileTables how = tables_of(settings);
    json_t *profiles = NULL;
    Text text = {0};
    TRY(nsys_folder_read(&profiles, settings->from));
    Status status = strcmp(settings->format, "json") == 0
                        ? put_json(&text, profiles)
                        : profile_nsys_tables_write(&text, &how, profiles);
    if (status == ST_OK) status = output_text(settings, &text);
    text_free(&text);
    json_decref(profiles);
    return status;
}

static Status show_earlier(const Settings *settings)
{
    RecordSet rows;
    if (!profile_output_is_there(settings->from)) return show_nsys(settings);
    TRY(record_set_init(&rows, NULL));
    Status status = profile_output_read(&rows, settings->from);
    if (status == ST_OK) status = show(settings, &rows);
    record_set_free(&rows);
    return status;
}

static Status run_cells(const Settings *settings, const Sweep *sweep, RecordSet *rows,
                        int *exit_code)
{
    RunnerOutcome outcome;
    const RunnerTask task = {.configs = sweep->configs,
                             .n = sweep->n,
                             .varies = sweep->varies,
                             .cell = run_cell,
                             .weight = time_estimate_weight,
                             .weight_is_known = time_estimate_weight_is_known,
                             .self = &output,
                             .finished = profile_output_add};
    TRY(profile_output_open(&output, settings, sweep, rows));
    Status status = output_check_file(settings); /* it may be in the folder that was just made */
    if (status == ST_OK) status = runner_run(&task, rows, &outcome);
    if (status == ST_OK && settings->out_dir) temp_file_remove_stale(settings->out_dir);
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

static Status run_new(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    json_t *environment = NULL;
    RecordSet rows;
    TRY(environment_new(&environment, settings->command_line));
    Status status = record_set_init(&rows, environment);
    if (status == ST_OK) {
        status = run_cells(settings, sweep, &rows, exit_code);
        record_set_free(&rows);
    }
    json_decref(environment);
    return status;
}

static Status show_plan(const Settings *settings, const Sweep *sweep)
{
    RecordSet none;
    TRY(record_set_init(&none, NULL));
    const Status status = bench_dry_run(settings, sweep, &none);
    record_set_free(&none);
    return status;
}

static Status run_or_tell(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    TRY(other_machine_check(settings, settings->dry_run, "--dry-run"));
    if (!settings->dry_run)
        TRY(supported_any(&(RunnerTask){.configs = sweep->configs, .n = sweep->n}));
    return settings->dry_run ? show_plan(settings, sweep) : run_new(settings, sweep, exit_code);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    if (settings->from) return show_earlier(settings);
    TRY(profile_output_check(settings));
    TRY(output_check_nvtx(settings));
    if (!settings->against) return run_or_tell(settings, sweep, exit_code);
    Sweep doubled = *sweep;
    TRY(double_cells(&doubled, settings->against));
    const Status status = run_or_tell(settings, &doubled, exit_code);
    sweep_free(&doubled);
    return status;
}

static const char help[] =
    "Measures every cell as bench does, then runs --steps again with everything watched, and "
    "prints\n"
    "what watching cost, the phases, the parts of attention, time by category, the kernels (on a "
    "CPU:\n"
    "the ops) that take most of each phase, every op against the machine's limits, and what the\n"
    "device and the operating system did interference. Several cells: one row each.\n\n"
    "  roofstep profile --size tiny\n"
    "  roofstep profile --size tiny --against eager        (what fusing brings)\n"
    "  roofstep profile --size small --ctx 128-1024*2      (one row per context)\n"
    "  roofstep profile --size tiny --out-dir prof         (CSVs and a trace; --from prof shows it "
    "again)\n"
    "  roofstep profile --from nsys                        (the CSVs of nsys stats --format csv "
    "there)\n";

const Command cmd_profile = {
    .name = "profile",
    .summary = "where the time goes: phases, attention, kernels, gaps; traces and CSVs",
    .help = help,
    .options = {.taken = PROFILE_LISTS | OPTIONS_OUTPUT | OPTION_BIT(MEMORY_LIMIT) |
                         OPTION_BIT(TIMEOUT) | OPTION_BIT(DRY_RUN) | OPTION_BIT(LIMITS) |
                         OPTION_BIT(AGAINST) | OPTION_BIT(TRACE_STEPS) | OPTION_BIT(OUT_DIR) |
                         OPTION_BIT(PREFIX) | OPTION_BIT(FROM) | OPTION_BIT(SOURCE) |
                         OPTION_BIT(TOP) | OPTION_BIT(NVTX) | OPTION_BIT(ANNOTATE_MHA) |
                         OPTION_BIT(STAT),
                .lists = PROFILE_LISTS,
                .formats = "md json latex typst"},
    .run = run,
};
