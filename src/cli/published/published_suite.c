#include "cli/published/published_suite.h"

#include "base/clock.h"
#include "base/file_lock.h"
#include "base/folder.h"
#include "base/log.h"
#include "bench/cell/runner.h"
#include "bench/limits/limits_cache.h"
#include "bench/record/environment.h"
#include "cli/output.h"
#include "cli/published/published_dry_run.h"
#include "cli/published/published_page.h"
#include "cli/published/published_run.h"
#include "cli/suite/suite.h"
#include "report/findings/missing_results.h"
#include "report/page/page.h"
#include "report/page/table_files.h"

#include <stdio.h>

/* ---- what is written ---- */

static Status write_page(const PublishedPlan *plan, const PageInput *input)
{
    char path[PATH_MAX];
    Text text = {0};
    if (!page_is_built()) return ST_OK;
    TRY(published_plan_path(plan, "index.html", path));
    Status status = page_write(&text, input);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    text_free(&text);
    return status;
}

/* The tables alone: printed, and kept as tables.md. */
static Status print_tables(const PublishedPlan *plan, const PageInput *input)
{
    char path[PATH_MAX];
    Text text = {0};
    Status status = published_plan_path(plan, "tables.md", path);
    text_printf(&text, "%s\n", input->lines);
    for (int i = 0; status == ST_OK && i < input->n_more; i++) {
        text_printf(&text, "## %s: %s\n\n", published_list_writeups[plan->writeup].what,
                    input->more[i].title);
        status = input->more[i].write(&text, "md", &input->more[i]);
        text_puts(&text, "\n");
    }
    for (size_t i = 0; i < json_array_size(input->gaps); i++) {
        text_puts(&text, "- ");
        missing_results_sentence(&text, json_array_get(input->gaps, i));
        text_puts(&text, "\n");
    }
    if (status == ST_OK) status = text_status(&text);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    if (status == ST_OK) status = output_print(&text);
    text_free(&text);
    return status;
}

static Status write_parts(const PublishedPlan *plan, const PageBundle *bundle, const char *command)
{
    char folder[PATH_MAX];
    PublishedPages pages;
    Status status = published_page_read(&pages, bundle);
    const PageInput input = published_page_input(&pages, bundle, command);
    if (status == ST_OK) status = published_plan_path(plan, "tables", folder);
    if (status == ST_OK) status = print_tables(plan, &input);
    if (status == ST_OK) status = table_files_write(folder, &input);
    if (status == ST_OK) status = write_page(plan, &input);
    published_page_free(&pages);
    return status;
}

static Status write_all(const PublishedPlan *plan, const char *command)
{
    char path[PATH_MAX];
    PageBundle bundle;
    TRY(published_plan_path(plan, PUBLISHED_RESULTS_FILE, path));
    Status status = page_bundle_read(&bundle, (const char *[]){path}, 1);
    if (status == ST_OK) status = write_parts(plan, &bundle, command);
    page_bundle_free(&bundle);
    return status;
}

/* ---- the whole of it ---- */

/* A cell of no row, for where the rows run. */
static Status find_place(const PublishedPlan *plan, Config *config, Placement *place)
{
    const PublishedTable plain = {.command = &cmd_bench, .words = "", .figures = ""};
    TRY(published_list_config(&plain, NULL, plan->device, config));
    return placement_find(config, place);
}

/* Measuring limits would take most of a short budget. */
static const double short_budget = 120;

/* Limits say on which device it is, and what the rows are ordered by. They are kept for the next time; in a short
 * budget those that are stored for this CPU, or guesses, order the rows. */
static Status find_rates(const PublishedPlan *plan, TimeEstimateRates *rates)
{
    Config config;
    Limits limits;
    Placement place;
    TRY(find_place(plan, &config, &place));
    const bool stored = place.backend == BACKEND_cpu && limits_cache_find(&config, &limits);
    const bool hurried = plan->budget < short_budget;
    if (!stored && !hurried) TRY(limits_cache_get(&config, false, false, &limits));
    *rates = time_estimate_rates(stored || !hurried ? &limits : NULL);
    return ST_OK;
}

static bool is_done(const PublishedOrder *order, const RecordSet *rows, const RecordSet *profiles)
{
    char key[RECORD_KEY_SIZE];
    for (int i = 0; i < order->n; i++) {
        record_key_of_config(&order->configs[i], key);
        const Record *record = record_set_find(order->watched[i] ? profiles : rows, key);
        if (order->cells[i].state != CELL_ORDER_SKIPPED &&
            !(record && cell_record_is_final(record)))
            return false;
    }
    return true;
}

static Status run_rows(PublishedPlan *plan, double begun, RecordSet *rows, RecordSet *profiles,
                       int *signal)
{
    TimeEstimateRates rates;
    PublishedOrder order = {0};
    TRY(find_rates(plan, &rates));
    const PublishedTime time = published_run_time(plan, rates.gpu, begun);
    Status status = published_order_make(&order, plan->writeup, &plan->cells, &rates);
    published_order_expect(&order, &rates, published_run_share(&time, time.budget, order.n));
    if (status == ST_OK) status = published_run(plan, &order, &time, rows, profiles, signal);
    if (status == ST_OK && !*signal) {
        plan->done = is_done(&order, rows, profiles);
        status = published_page_keep(plan, rows, profiles);
    }
    published_order_free(&order);
    return status;
}

static Status run_into_sets(PublishedPlan *plan, double begun, json_t *environment, int *signal)
{
    RecordSet rows, profiles;
    TRY(record_set_init(&rows, environment));
    Status status = record_set_init(&profiles, environment);
    if (status == ST_OK) {
        status = run_rows(plan, begun, &rows, &profiles, signal);
        record_set_free(&profiles);
    }
    record_set_free(&rows);
    return status;
}

static Status run_all(PublishedPlan *plan, const Settings *settings, int *exit_code)
{
    const double begun = clock_seconds();
    json_t *environment = NULL;
    int signal = 0;
    if (settings->resume) suite_remove_temporaries(plan->folder);
    TRY(published_plan_write(plan));
    TRY(environment_new(&environment, settings->command_line));
    Status status = run_into_sets(plan, begun, environment, &signal);
    json_decref(environment);
    if (status != ST_OK) return status;
    if (signal) {
        log_note("interrupted: --resume %s does the rest", plan->folder);
        *exit_code = EXIT_INTERRUPTED;
        return ST_OK;
    }
    TRY(write_all(plan, settings->command_line));
    TRY(published_plan_write(plan));
    output_tell_folder(plan->folder);
    if (!plan->whole) *exit_code = EXIT_CELLS;
    return ST_OK;
}

/* Read again once the folder is locked: another suite may have begun there interference. */
static Status open_plan(PublishedPlan *plan, const Settings *settings, const Sweep *sweep)
{
    Config config;
    Placement place;
    TRY(published_plan_open(plan, settings, sweep));
    if (settings->dry_run) return ST_OK;
    TRY(find_place(plan, &config, &place)); /* before anything is written */
    TRY(folder_make(plan->folder));
    TRY(file_lock_take_folder(plan->folder));
    TRY(suite_check_folder(plan->folder));
    published_plan_free(plan);
    return published_plan_open(plan, settings, sweep);
}

Status published_suite_run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    PublishedPlan plan;
    Status status = open_plan(&plan, settings, sweep);
    if (status == ST_OK)
        status = settings->dry_run ? published_dry_run(&plan) : run_all(&plan, settings, exit_code);
    published_plan_free(&plan);
    return status;
}
