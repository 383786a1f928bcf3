/* roofstep suite: all of it in one go, ending in one page. */
#include "base/file_lock.h"
#include "base/folder.h"
#include "base/human.h"
#include "base/log.h"
#include "bench/limits/placement.h"
#include "cli/output.h"
#include "cli/published/published_plan.h"
#include "cli/published/published_suite.h"
#include "cli/suite/suite.h"

#define SUITE_FOLDER "roofstep-report"

/* ---- start and resume ---- */

/* Results of two command lines are never mixed in a folder. */
static Status begin(Suite *suite, const Settings *settings, const Sweep *sweep)
{
    const char *folder = settings->out_dir ? settings->out_dir : SUITE_FOLDER;
    Placement place;
    TRY(suite_make(suite, settings, sweep, folder));
    TRY(placement_find(&sweep->configs[0], &place));
    if (settings->dry_run) return ST_OK;
    TRY(folder_make(folder));
    TRY(file_lock_take_folder(folder));
    if (suite_is_in(folder))
        return FAIL(
            ST_USAGE,
            "%s holds a suite already: continue it with --resume %s, or name another folder "
            "with --out-dir",
            folder, folder);
    TRY(suite_check_folder(folder));
    return suite_write(suite);
}

static Status resume(Suite *suite, const Settings *settings)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (settings->given[id] && id != OPTION_RESUME && id != OPTION_DRY_RUN &&
            id != OPTION_QUIET)
            return FAIL(ST_USAGE,
                        "--resume keeps the options the suite was started with: give no other");
    }
    if (!settings->dry_run && suite_is_in(settings->resume))
        TRY(file_lock_take_folder(settings->resume));
    TRY(suite_read(suite, settings->resume));
    if (!settings->dry_run) suite_remove_temporaries(suite->folder);
    return ST_OK;
}

/* ---- dry run ---- */

static void plan_row(Table *table, const Suite *suite, SuitePartId id, bool stored)
{
    SuiteCommand command;
    CLEANUP(text_free) Text words = {0};
    Text line = {0};
    const SuitePart *part = &suite->parts[id];
    const bool skipped = part->state == SUITE_SKIPPED;
    if (skipped)
        text_puts(&line, part->message);
    else if (suite_parts_command(&command, &words, id, part->args, suite->folder) == ST_OK)
        suite_parts_put_command(&line, &command);
    TABLE_CELLS(table, suite_parts_info[id].name,
                human_eta(skipped ? 0 : suite_run_expected(suite, id, stored)).s,
                skipped                     ? "skipped"
                : part->state == SUITE_DONE ? "done"
                                            : "to run");
    table_cell_text(table, &line);
}

static void total_row(Table *table, const Suite *suite, bool stored)
{
    double seconds = 0;
    for (int id = 0; id < SUITE_PARTS; id++) {
        if (!suite_part_is_over(&suite->parts[id]))
            seconds += suite_run_expected(suite, (SuitePartId)id, stored);
    }
    TABLE_CELLS(table, "total to run", human_eta(seconds).s, "", "");
}

static Status show_plan(Suite *suite)
{
    Table table = {0};
    bool known = false;
    TRY(suite_run_preview(suite, &known));
    table.title = "What would run";
    TABLE_COLUMNS(&table, 1, "part", "expected time");
    TABLE_COLUMNS(&table, 2, "state", "command");
    table_note(&table,
               known ? "planned by the stored limits of this device"
                     : "no limits are stored, so these times are guesses: the suite measures the "
                       "limits first and plans by them");
    for (int id = 0; id < SUITE_PARTS; id++) plan_row(&table, suite, (SuitePartId)id, known);
    total_row(&table, suite, known);
    return output_table(&table, ST_OK);
}

/* ---- the command ---- */

static Status run_all(Suite *suite, const Settings *settings, int *exit_code)
{
    CLEANUP(text_free) Text summary = {0};
    int signal = 0;
    bool whole = false;
    TRY(suite_run(suite, &signal));
    if (signal) {
        log_note("interrupted: roofstep suite --resume %s runs the rest", suite->folder);
        *exit_code = EXIT_INTERRUPTED;
        return ST_OK;
    }
    /* The page of a resumed suite shows the command that started it, which measures all of it again. */
    const char *command = *suite->command ? suite->command : settings->command_line;
    TRY(suite_finish(suite, command, &summary, &whole));
    if (!whole) *exit_code = EXIT_CELLS;
    const Status status = output_print(&summary);
    output_tell_folder(suite->folder);
    return status;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    Suite suite;
    if (settings->full && settings->given[OPTION_BUDGET])
        return FAIL(ST_USAGE, "--full has no time limit: leave out --budget");
    if (settings->like || (settings->resume && published_plan_is_in(settings->resume)))
        return published_suite_run(settings, sweep, exit_code);
    TRY(settings->resume ? resume(&suite, settings) : begin(&suite, settings, sweep));
    return settings->dry_run ? show_plan(&suite) : run_all(&suite, settings, exit_code);
}

static const char help[] =
    "Runs limits, bench, warmup, precision, attention, profile and memory, sized to take about\n"
    "--budget on this machine, and where there are MPI and four cores or two GPUs, bench, profile\n"
    "and memory of several ranks. Writes index.html, results.json, tables.md, a trace, a memory\n"
    "snapshot and charts to --out-dir, then prints a summary: fastest, slowest, what bounds the\n"
    "step, what to change first. Each part runs in its own process: when one fails, the others\n"
    "still run, the page and the summary name it, and --resume runs it again. The exit code is\n"
    "then 4, unless only --budget or memory cut it short. Model options replace the models that\n"
    "the suite would choose.\n"
    "\n"
    "  roofstep suite\n"
    "  roofstep suite --dry-run                  (the commands and their time)\n"
    "  roofstep suite --budget 10m --out-dir here\n"
    "  roofstep suite --model path/to/folder     (the whole page for your model)\n"
    "  roofstep suite --full                     (every size, context and precision)\n"
    "  roofstep suite --like rtx5090             (published tables beside ours)\n"
    "  roofstep suite --resume roofstep-report   (after Ctrl-C: runs the rest)\n";

/* "|rtx5090|8gb": completion offers what --help lists. */
static const char writeups[] =
#define WRITEUP(id, name, ...) "|" name
#include "cli/published/published.def"
    ;

static const OptionWords words[] = {
    {.id = OPTION_SIZE, .by_default = "what --budget allows"},
    {.id = OPTION_CTX, .by_default = "what --budget allows"},
    {.id = OPTION_BATCH, .by_default = "what --budget allows"},
    {.id = OPTION_LIKE, .value = writeups + 1},
    {.id = OPTION_BUDGET,
     .help = "target for the whole suite, as 3m (default 3m; with --like 10m on a CPU and no limit "
             "on a GPU)"},
    {.id = OPTION_OUT_DIR, .by_default = SUITE_FOLDER},
    {.id = OPTION_RESUME,
     .value = "DIR",
     .help = "continue the suite in this folder: run what is missing"}};

const Command cmd_suite = {
    .name = "suite",
    .summary = "everything below in one go, sized to this machine, ending in one page",
    .help = help,
    .options = {.taken =
                    OPTION_LIST(OPTIONS_DIMS, OPTION_DEVICE, OPTION_THREADS, OPTION_MEMORY_LIMIT,
                                OPTION_TIMEOUT, OPTION_BUDGET, OPTION_FULL, OPTION_LIKE,
                                OPTION_DRY_RUN, OPTION_OUT_DIR, OPTION_RESUME),
                .lists = OPTION_LIST(OPTION_SIZE, OPTION_CTX),
                .words = words,
                .n_words = sizeof words / sizeof *words},
    .run = run,
};
