#include "cli/published/published_suite.h"

#include "base/clock.h"
#include "base/file_lock.h"
#include "base/folder.h"
#include "base/human.h"
#include "base/json_text.h"
#include "base/log.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/placement.h"
#include "bench/record/environment.h"
#include "cli/output.h"
#include "cli/published/published_estimate.h"
#include "cli/published/published_page.h"
#include "cli/published/published_run.h"
#include "cli/suite/suite.h"
#include "cli/suite/suite_output.h"
#include "report/findings/missing_results.h"
#include "report/page/table_files.h"

#include <math.h>
#include <string.h>

/* The config of a cell without a row, for where the rows run. */
static Status plain_config(const PublishedPlan *plan, Config *config)
{
    const PublishedTable plain = {.command = &cmd_bench, .args = "", .figures = ""};
    return published_list_config(&plain, NULL, plan->device, config);
}

static Status make_order(PublishedOrder *order, const PublishedPlan *plan,
                         const TimeEstimateRates *rates, const PublishedTime *time)
{
    const Status status = published_order_make(order, plan->writeup, &plan->cells, rates);
    published_order_expect(order, rates, published_run_share(time, time->budget, order->n));
    return status;
}

/* ---- dry run ---- */

/* By stored limits, or guesses. */
static TimeEstimateRates known_rates(const PublishedPlan *plan, bool *guessed)
{
    Placement place;
    Limits limits;
    Config config;
    const bool placed =
        plain_config(plan, &config) == ST_OK && placement_of(&config, &place) == ST_OK;
    const bool known = placed && limits_cache_find(&config, &limits);
    TimeEstimateRates rates = time_estimate_rates(known ? &limits : NULL);
    rates.gpu = placed && place.backend != BACKEND_cpu;
    *guessed = !known;
    return rates;
}

/* Appends the titles of all tables that have the cell, the most important first. */
static void put_tables(Text *out, const PublishedPlan *plan, const PublishedOrder *order, int i)
{
    int table;
    for (int rank = 0; (table = published_order_table(&plan->cells, plan->writeup, rank)) >= 0;
         rank++) {
        if (order->cells[i].tables >> rank & 1)
            text_printf(out, "%s%s", out->n > 0 ? "; " : "", published_list_tables[table].title);
    }
}

typedef struct Total {
    double seconds;
    int rows, finished, oom, unsupported;
} Total;

/* A row that fits only in a smaller mode runs in that mode. */
static void put_time(Text *out, Total *total, const PublishedOrder *order, int i,
                     const PublishedFit *fit, const TimeEstimateRates *rates)
{
    total->oom += fit->status == RECORD_OOM && !fit->runs;
    total->unsupported += fit->status == RECORD_UNSUPPORTED;
    if (fit->status == RECORD_UNSUPPORTED) text_puts(out, "unsupported");
    if (fit->status == RECORD_OOM)
        text_printf(out, "OOM (needs %s, has %s)", human_bytes((double)fit->needs).s,
                    human_bytes((double)fit->has).s);
    if (!fit->runs) return;
    if (fit->status == RECORD_OOM) text_printf(out, "; %s ", config_modes[fit->mode]);
    const double seconds = published_order_seconds(order, i, fit->mode, rates);
    text_puts(out, human_eta(seconds).s);
    total->seconds += seconds;
    total->rows++;
}

static Status put_cell(Table *table, const PublishedPlan *plan, const PublishedOrder *order, int i,
                       const TimeEstimateRates *rates, Total *total)
{
    Text label = {0}, tables = {0}, time = {0};
    PublishedFit fit;
    TRY(published_estimate_fit(&order->configs[i], &fit));
    if (order->row[i]) published_list_put_label(&label, order->row[i]);
    if (!order->row[i]) text_puts(&label, "profile");
    put_tables(&tables, plan, order, i);
    put_time(&time, total, order, i, &fit, rates);
    table_cell_printf(table, fit.runs ? "%d" : "-", total->rows);
    table_cell_text(table, &tables);
    table_cell_text(table, &label);
    table_cell_printf(table, "up to %lld", (long long)order->configs[i].steps);
    table_cell_text(table, &time);
    return ST_OK;
}

static void put_notes(Table *table, const PublishedPlan *plan, const PublishedTime *time,
                      const Total *total, bool guessed)
{
    const double most = time->budget;
    if (total->finished > 0)
        table_note_printf(table, "%d finished in %s, skipped", total->finished, plan->folder);
    table_note_printf(table, "dry run: %d cell%s would run; expected time %s%s", total->rows,
                      total->rows == 1 ? "" : "s", human_eta(fmin(total->seconds, most)).s,
                      guessed ? ", guessed: the limits of this machine are not measured yet" : "");
    if (total->oom + total->unsupported > 0)
        table_note_printf(table, "cannot run, by the plan: %d OOM, %d unsupported", total->oom,
                          total->unsupported);
    if (total->seconds > most)
        table_note_printf(table,
                          "all of them would take %s: run the same command again to continue after "
                          "the budget is spent",
                          human_eta(total->seconds).s);
}

static Status show(const PublishedPlan *plan, PublishedOrder *order, const PublishedTime *time,
                   const TimeEstimateRates *rates, bool guessed)
{
    Table table = {0};
    Total total = {0};
    Status status = ST_OK;
    table.title = "What would run";
    TABLE_COLUMNS(&table, 0, "order");
    TABLE_COLUMNS(&table, 2, "tables", "row", "samples", "expected time");
    for (int i = 0; i < order->n && status == ST_OK; i++) {
        if (order->cells[i].state == CELL_ORDER_WAITING)
            status = put_cell(&table, plan, order, i, rates, &total);
        else
            total.finished++;
    }
    put_notes(&table, plan, time, &total, guessed);
    return output_table(&table, status);
}

static Status dry_run(const PublishedPlan *plan)
{
    CLEANUP(published_order_free) PublishedOrder order = {0};
    CLEANUP(published_list_records_free) PublishedRecords known = {0};
    bool guessed;
    const TimeEstimateRates rates = known_rates(plan, &guessed);
    const PublishedTime time = published_run_time(plan, rates.gpu, 0);
    TRY(make_order(&order, plan, &rates, &time));
    TRY(published_list_records(&known, NULL));
    TRY(published_run_read_known(plan, &known));
    published_run_mark_known(&order, &known);
    return show(plan, &order, &time, &rates, guessed);
}

/* ---- files ---- */

/* Prints the tables and writes them to tables.md. */
static Status print_tables(const PublishedPlan *plan, const PageInput *input)
{
    char path[PATH_MAX];
    CLEANUP(text_free) Text text = {0};
    TRY(output_path(plan->folder, "tables.md", path));
    text_printf(&text, "%s\n", input->lines);
    for (int i = 0; i < input->n_more; i++) {
        text_printf(&text, "## %s: %s\n\n", published_list_writeups[plan->writeup].what,
                    input->more[i].title);
        TRY(input->more[i].write(&text, "md", &input->more[i]));
        text_puts(&text, "\n");
    }
    for (size_t i = 0; i < json_array_size(input->gaps); i++) {
        text_puts(&text, "- ");
        missing_results_sentence(&text, json_array_get(input->gaps, i));
        text_puts(&text, "\n");
    }
    TRY(text_status(&text));
    TRY(text_write_file(path, text_str(&text), text.n));
    return output_print(&text);
}

static Status write_all(const PublishedPlan *plan, const char *command)
{
    char path[PATH_MAX], folder[PATH_MAX];
    CLEANUP(page_bundle_free) PageBundle bundle = {0};
    CLEANUP(published_page_free) PublishedPages pages = {0};
    TRY(output_path(plan->folder, published_run_files[false], path));
    TRY(output_path(plan->folder, "tables", folder));
    TRY(page_bundle_read(&bundle, (const char *[]){path}, 1));
    TRY(published_page_read(&pages, &bundle));
    const PageInput input = published_page_input(&pages, &bundle, command);
    TRY(print_tables(plan, &input));
    TRY(table_files_write(folder, &input));
    return suite_output_page(plan->folder, &input);
}

/* ---- run ---- */

/* Measuring limits would take most of a shorter budget. */
static const double short_budget = 120;

/* Limits name the device and order the rows, and are stored for the next time. With a short budget stored
 * limits of this CPU, or guesses, order the rows. */
static Status find_rates(const PublishedPlan *plan, TimeEstimateRates *rates)
{
    Config config;
    Limits limits;
    Placement place;
    TRY(plain_config(plan, &config));
    TRY(placement_find(&config, &place));
    const bool stored = place.backend == BACKEND_cpu && limits_cache_find(&config, &limits);
    const bool hurried = plan->budget < short_budget;
    if (!stored && !hurried) TRY(limits_cache_get(&config, false, false, &limits));
    *rates = time_estimate_rates(stored || !hurried ? &limits : NULL);
    return ST_OK;
}

static Status run_rows(PublishedPlan *plan, double begun, const Settings *settings, int *signal)
{
    TimeEstimateRates rates;
    CLEANUP(published_order_free) PublishedOrder order = {0};
    CLEANUP(published_list_records_free) PublishedRecords records = {0};
    CLEANUP(json_text_free) json_t *environment = NULL;
    TRY(environment_new(&environment, settings->command_line));
    TRY(published_list_records(&records, environment));
    TRY(find_rates(plan, &rates));
    const PublishedTime time = published_run_time(plan, rates.gpu, begun);
    TRY(make_order(&order, plan, &rates, &time));
    TRY(published_run(plan, &order, &time, &records, signal));
    if (*signal) return ST_OK;
    plan->done = published_run_is_done(&order, &records);
    return published_page_keep(plan, &records);
}

static Status run_all(PublishedPlan *plan, const Settings *settings, int *exit_code)
{
    const double begun = clock_seconds();
    int signal = 0;
    if (settings->resume) suite_remove_temporaries(plan->folder);
    TRY(published_plan_write(plan));
    TRY(run_rows(plan, begun, settings, &signal));
    if (signal) {
        log_note("interrupted: roofstep suite --resume %s runs the rest", plan->folder);
        *exit_code = EXIT_INTERRUPTED;
        return ST_OK;
    }
    TRY(write_all(plan, settings->command_line));
    TRY(published_plan_write(plan));
    output_tell_folder(plan->folder);
    if (!plan->whole) *exit_code = EXIT_CELLS;
    return ST_OK;
}

/* Reads the plan again once the folder is locked: another suite may have started there in between. */
static Status open_plan(PublishedPlan *plan, const Settings *settings, const Sweep *sweep)
{
    Config config;
    Placement place;
    TRY(published_plan_open(plan, settings, sweep));
    if (settings->dry_run) return ST_OK;
    TRY(plain_config(plan, &config));
    TRY(placement_find(&config, &place)); /* before anything is written */
    TRY(folder_make(plan->folder));
    TRY(file_lock_take_folder(plan->folder));
    TRY(suite_check_folder(plan->folder));
    published_plan_free(plan);
    return published_plan_open(plan, settings, sweep);
}

Status published_suite_run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    CLEANUP(published_plan_free) PublishedPlan plan = {0};
    TRY(open_plan(&plan, settings, sweep));
    return settings->dry_run ? dry_run(&plan) : run_all(&plan, settings, exit_code);
}
