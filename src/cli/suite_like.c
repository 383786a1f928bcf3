#include "cli/suite_like.h"

#include "base/folder.h"
#include "base/log.h"
#include "bench/cell.h"
#include "bench/environment.h"
#include "bench/outlook.h"
#include "bench/profile_cell.h"
#include "bench/record_file.h"
#include "bench/runner.h"
#include "cli/bench_dry_run.h"
#include "cli/like_page.h"
#include "cli/output.h"
#include "cli/suite.h"
#include "report/page.h"
#include "report/report_md.h"
#include "report/report_sink.h"
#include "report/table_files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What tells the rows of a write-up apart, where they differ in it. */
static const bool telling[OPTION_COUNT] = {
    [OPTION_SIZE] = true,      [OPTION_CTX] = true,       [OPTION_D_HEAD] = true,
    [OPTION_PRECISION] = true, [OPTION_ATTENTION] = true, [OPTION_MODE] = true,
    [OPTION_WARMUP] = true,    [OPTION_SEED] = true};

static Sweep sweep_of(const LikeBatch *batch)
{
    Sweep sweep = {.configs = batch->list, .n = batch->n};
    sweep_find_varying(&sweep);
    for (int id = 0; id < OPTION_COUNT; id++) sweep.varies[id] = sweep.varies[id] && telling[id];
    return sweep;
}

/* ---- running them ---- */

static Status add(void *self, Record *record)
{
    return report_sink_add(self, record);
}

static Status profile_cell(const Config *config, CellLink *link)
{
    const ProfileTask task = {0};
    return profile_cell_run(config, link, &task);
}

/* Nothing measured is ever thrown away: rows that an earlier, longer budget allowed stay. */
static Status keep_others(RecordSet *rows, const RecordSet *known)
{
    for (size_t i = 0; i < record_set_size(known); i++) {
        Record *record = record_set_at(known, i);
        const char *key = record_key(record);
        if (!key || !record_set_find(rows, key)) TRY(record_set_share(rows, known, record));
    }
    return ST_OK;
}

/* One batch as it runs: its cells, where they go, and what came of them. */
typedef struct Run {
    const LikeBatch *batch;
    RunnerCell *cell;
    char path[PATH_MAX];
    RecordSet known; /* what is finished in its file is kept */
    RecordSet *rows;
    int signal;
} Run;

static Status run_into(Run *run)
{
    ReportSink sink;
    RunnerOutcome outcome = {0};
    const Sweep sweep = sweep_of(run->batch);
    TRY(report_sink_open(&sink, run->path, "json", &run->known));
    const RunnerTask task = {.configs = sweep.configs,
                             .n = sweep.n,
                             .varies = sweep.varies,
                             .cell = run->cell,
                             .weight = outlook_weight,
                             .weight_is_known = outlook_weight_is_known,
                             .resumed = &run->known,
                             .self = &sink,
                             .finished = add};
    const ReportInput input = {.set = run->rows};
    Status status = runner_run(&task, run->rows, &outcome);
    run->signal = outcome.signal;
    if (status == ST_OK) status = keep_others(run->rows, &run->known);
    if (status == ST_OK && !outcome.signal) status = report_sink_finish(&sink, &input);
    report_sink_close(&sink);
    return status;
}

static Status read_known(const LikePlan *plan, const LikeBatch *batch, char path[PATH_MAX],
                         RecordSet *known)
{
    TRY(like_plan_path(plan, batch->file, path));
    return access(path, F_OK) == 0 ? record_file_read(known, path, NULL) : ST_OK;
}

static Status run_batch(LikePlan *plan, LikeBatch *batch, RunnerCell *cell, RecordSet *rows,
                        int *signal)
{
    Run run = {.batch = batch, .cell = cell, .rows = rows};
    TRY(record_set_init(&run.known, json_array_get(rows->environments, 0)));
    Status status = read_known(plan, batch, run.path, &run.known);
    if (status == ST_OK && (batch->n > 0 || record_set_size(&run.known) > 0))
        status = run_into(&run);
    record_set_free(&run.known);
    *signal = run.signal;
    if (status != ST_OK || run.signal) return status;
    batch->done = true;
    return like_plan_write(plan);
}

/* ---- what is written ---- */

static Status write_page(const LikePlan *plan, const PageInput *input)
{
    char path[PATH_MAX];
    Text text = {0};
    if (!page_is_built()) return ST_OK;
    TRY(like_plan_path(plan, "index.html", path));
    Status status = page_write(&text, input);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    text_free(&text);
    return status;
}

/* The tables alone: printed, and kept as tables.md. */
static Status print_tables(const LikePlan *plan, const PageInput *input)
{
    char path[PATH_MAX];
    Text text = {0};
    Status status = like_plan_path(plan, "tables.md", path);
    for (int i = 0; status == ST_OK && i < input->n_more; i++) {
        text_printf(&text, "## %s: %s\n\n", like_writeups[plan->writeup].what,
                    input->more[i].title);
        status = input->more[i].write(&text, report_md_table, &input->more[i]);
        text_puts(&text, "\n");
    }
    if (status == ST_OK) status = text_status(&text);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    if (status == ST_OK) fputs(text_str(&text), stdout);
    text_free(&text);
    return status;
}

static Status write_parts(const LikePlan *plan, const PageBundle *bundle, const char *command)
{
    char folder[PATH_MAX];
    LikePages pages;
    Status status = like_page_read(&pages, bundle);
    const PageInput input = like_page_input(&pages, bundle, command);
    if (status == ST_OK) status = like_plan_path(plan, "tables", folder);
    if (status == ST_OK) status = print_tables(plan, &input);
    if (status == ST_OK) status = table_files_write(folder, &input);
    if (status == ST_OK) status = write_page(plan, &input);
    like_page_free(&pages);
    return status;
}

static Status write_all(const LikePlan *plan, const char *command)
{
    char path[PATH_MAX];
    PageBundle bundle;
    TRY(like_plan_path(plan, plan->bench.file, path));
    Status status = page_bundle_read(&bundle, (const char *[]){path}, 1);
    if (status == ST_OK) status = write_parts(plan, &bundle, command);
    page_bundle_free(&bundle);
    return status;
}

/* ---- what would be run ---- */

static Status show_batch(const LikePlan *plan, const LikeBatch *batch, const char *what,
                         const Settings *settings)
{
    char path[PATH_MAX];
    RecordSet known;
    Settings here = *settings;
    const Sweep sweep = sweep_of(batch);
    here.resume = plan->folder;
    TRY(record_set_init(&known, NULL));
    printf("## %s: %s\n\n", like_writeups[plan->writeup].what, what);
    Status status = read_known(plan, batch, path, &known);
    if (status == ST_OK) status = bench_dry_run(&here, &sweep, &known);
    if (status == ST_OK) puts("");
    record_set_free(&known);
    return status;
}

static Status show_plan(LikePlan *plan, const Settings *settings)
{
    TRY(like_plan_settle(plan, true));
    if (plan->bench.n > 0) TRY(show_batch(plan, &plan->bench, "measured", settings));
    if (plan->profile.n > 0)
        TRY(show_batch(plan, &plan->profile, "profiled, in some 2.5 times the time", settings));
    puts(plan->bench.n > 0
             ? "What --budget leaves no time for comes from the plan and this machine's limits."
             : "--budget leaves no time for a single row: all come from the plan.");
    return ST_OK;
}

/* ---- the whole of it ---- */

/* *signal is what stopped it, or 0. */
static Status run_rows(LikePlan *plan, RecordSet *rows, RecordSet *profiles, int *signal)
{
    TRY(run_batch(plan, &plan->bench, cell_run, rows, signal));
    if (!*signal) TRY(run_batch(plan, &plan->profile, profile_cell, profiles, signal));
    return *signal ? ST_OK : like_page_keep(plan, rows, profiles);
}

static Status run_batches(LikePlan *plan, json_t *environment, int *signal)
{
    RecordSet rows, profiles;
    TRY(record_set_init(&rows, environment));
    Status status = record_set_init(&profiles, environment);
    if (status == ST_OK) {
        status = run_rows(plan, &rows, &profiles, signal);
        record_set_free(&profiles);
    }
    record_set_free(&rows);
    return status;
}

/* Kept before the limits are measured, which takes a while, and again with the rows that they allow. */
static Status keep_plan(LikePlan *plan)
{
    TRY(folder_make(plan->folder));
    if (!plan->settled) TRY(like_plan_write(plan));
    TRY(like_plan_settle(plan, false));
    return like_plan_write(plan);
}

static Status run_all(LikePlan *plan, const Settings *settings, int *exit_code)
{
    json_t *environment = NULL;
    int signal = 0;
    if (settings->resume) suite_sweep_up(plan->folder);
    TRY(keep_plan(plan));
    TRY(environment_new(&environment, settings->command_line));
    Status status = run_batches(plan, environment, &signal);
    json_decref(environment);
    if (status != ST_OK) return status;
    if (signal) {
        log_note("interrupted: --resume %s does the rest", plan->folder);
        *exit_code = EXIT_INTERRUPTED;
        return ST_OK;
    }
    TRY(write_all(plan, settings->command_line));
    output_tell_folder(plan->folder);
    return ST_OK;
}

Status suite_like_run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    LikePlan plan;
    Status status = like_plan_open(&plan, settings, &sweep->configs[0]);
    if (status == ST_OK)
        status =
            settings->dry_run ? show_plan(&plan, settings) : run_all(&plan, settings, exit_code);
    like_plan_free(&plan);
    return status;
}
