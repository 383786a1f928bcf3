#include "cli/published/published_dry_run.h"

#include "base/human.h"
#include "bench/cell/runner.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/placement.h"
#include "cli/output.h"
#include "cli/published/published_fits.h"
#include "cli/published/published_run.h"
#include "cli/published/published_words.h"
#include "report/format/table_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Stored limits, or guesses. */
static TimeEstimateRates known_rates(const PublishedPlan *plan, bool *guessed)
{
    Placement place;
    Limits limits;
    const PublishedTable plain = {.command = &cmd_bench, .words = "", .figures = ""};
    Config config;
    const bool placed = published_list_config(&plain, NULL, plan->device, &config) == ST_OK &&
                        placement_of(&config, &place) == ST_OK;
    const bool cpu = placed && place.backend == BACKEND_cpu;
    const bool known = placed && limits_cache_find(&config, &limits);
    TimeEstimateRates rates = time_estimate_rates(known ? &limits : NULL);
    rates.gpu = placed && !cpu;
    *guessed = !known;
    return rates;
}

/* The first row that is this cell. */
static void put_label(Text *out, const PublishedPlan *plan, const PublishedOrder *order, int i)
{
    char a[RECORD_KEY_SIZE], b[RECORD_KEY_SIZE];
    record_key_of_config(&order->configs[i], a);
    if (order->watched[i]) text_puts(out, "profile");
    for (int r = 0; r < published_list_n_rows && !order->watched[i]; r++) {
        if (published_list_rows[r].table != order->table[i]) continue;
        record_key_of_config(&plan->cells.rows[r], b);
        if (strcmp(a, b) != 0) continue;
        published_words_row(out, &published_list_rows[r]);
        return;
    }
}

/* All tables that have it, the most telling one first. */
static void put_tables(Text *out, const PublishedPlan *plan, const PublishedOrder *order, int i)
{
    int rank = 0;
    for (int kind = PUBLISHED_END_TO_END; kind < PUBLISHED_NUMBERS; kind++) {
        for (int t = 0; t < published_list_n_tables; t++) {
            const PublishedTable *table = &published_list_tables[t];
            if (table->writeup != plan->writeup || !plan->cells.has_table[t] ||
                (int)published_order_kind(table) != kind)
                continue;
            if (order->cells[i].tables >> rank++ & 1)
                text_printf(out, "%s%s", out->n > 0 ? "; " : "", table->title);
        }
    }
}

typedef struct Total {
    double seconds;
    int rows, finished, oom, unsupported;
} Total;

/* "OOM (needs 12.30 GiB, has 7.90 GiB)" */
static void put_shortage(Text *out, const PublishedFit *fit)
{
    text_printf(out, "OOM (needs %s", human_bytes((double)fit->needs).s);
    text_printf(out, ", has %s)", human_bytes((double)fit->has).s);
}

/* What fits in a smaller mode is run in that. */
static void put_time(Text *out, Total *total, const PublishedOrder *order, int i,
                     const PublishedFit *fit, const TimeEstimateRates *rates)
{
    const Config *config = &order->configs[i];
    total->oom += fit->status == RECORD_OOM && !fit->runs;
    total->unsupported += fit->status == RECORD_UNSUPPORTED;
    if (!fit->runs && fit->status == RECORD_UNSUPPORTED) {
        text_puts(out, "unsupported");
        return;
    }
    if (fit->status == RECORD_OOM) put_shortage(out, fit);
    if (!fit->runs) return;
    if (fit->status == RECORD_OOM) text_printf(out, "; %s ", config_mode_name(fit->mode));
    const double seconds = published_order_seconds(config, fit->mode, order->watched[i], rates);
    text_puts(out, human_eta(seconds).s);
    total->seconds += seconds;
    total->rows++;
}

static Status put_cell(Table *table, const PublishedPlan *plan, const PublishedOrder *order, int i,
                       const TimeEstimateRates *rates, Total *total)
{
    Text label = {0}, tables = {0}, time = {0};
    PublishedFit fit;
    TRY(published_fits_find(&order->configs[i], &fit));
    put_label(&label, plan, order, i);
    put_tables(&tables, plan, order, i);
    put_time(&time, total, order, i, &fit, rates);
    if (fit.runs)
        table_cell_printf(table, "%d", total->rows);
    else
        table_cell(table, "-");
    table_cell(table, text_str(&tables));
    table_cell(table, text_str(&label));
    table_cell_printf(table, "up to %lld", (long long)order->configs[i].steps);
    table_cell(table, text_str(&time));
    table->failed = table->failed || label.failed || tables.failed || time.failed;
    text_free(&label);
    text_free(&tables);
    text_free(&time);
    return ST_OK;
}

static void put_total(Table *table, const PublishedPlan *plan, const PublishedTime *time,
                      const Total *total, bool guessed)
{
    const double most = time->budget;
    if (total->finished > 0)
        table_note_printf(table, "%d finished in %s, not run again", total->finished, plan->folder);
    table_note_printf(table, "%d cell%s, nothing run; expected time %s%s", total->rows,
                      total->rows == 1 ? "" : "s", human_eta(fmin(total->seconds, most)).s,
                      guessed ? ", guessed: the machine has not been measured yet" : "");
    if (total->oom + total->unsupported > 0)
        table_note_printf(table, "not begun, by the plan: %d OOM, %d unsupported", total->oom,
                          total->unsupported);
    if (total->seconds > most)
        table_note_printf(table,
                          "all of them would take %s: what the clock does not come to says so, "
                          "and the same command again goes on with it",
                          human_eta(total->seconds).s);
}

static Status show(const PublishedPlan *plan, PublishedOrder *order, const PublishedTime *time,
                   const TimeEstimateRates *rates, bool guessed)
{
    Table table = {0};
    Text text = {0};
    Total total = {0};
    Status status = ST_OK;
    table_column(&table, "order", "", true);
    table_column(&table, "tables", "", false);
    table_column(&table, "row", "", false);
    table_column(&table, "samples", "", true);
    table_column(&table, "expected time", "", true);
    for (int i = 0; i < order->n && status == ST_OK; i++) {
        if (order->cells[i].state == CELL_ORDER_WAITING)
            status = put_cell(&table, plan, order, i, rates, &total);
        else
            total.finished++;
    }
    put_total(&table, plan, time, &total, guessed);
    if (status == ST_OK) status = table_write(&text, "md", &table);
    if (status == ST_OK) status = output_print(&text);
    table_free(&table);
    text_free(&text);
    return status;
}

static Status mark_known(const PublishedPlan *plan, PublishedOrder *order)
{
    RecordSet rows, profiles;
    TRY(record_set_init(&rows, NULL));
    Status status = record_set_init(&profiles, NULL);
    if (status == ST_OK) {
        status = published_run_read_known(plan, PUBLISHED_RESULTS_FILE, &rows);
        if (status == ST_OK)
            status = published_run_read_known(plan, PUBLISHED_PROFILES_FILE, &profiles);
        if (status == ST_OK) published_run_mark_known(order, &rows, &profiles);
        record_set_free(&profiles);
    }
    record_set_free(&rows);
    return status;
}

Status published_dry_run(const PublishedPlan *plan)
{
    PublishedOrder order;
    bool guessed;
    const TimeEstimateRates rates = known_rates(plan, &guessed);
    const PublishedTime time = published_run_time(plan, rates.gpu, 0);
    Status status = published_order_make(&order, plan->writeup, &plan->cells, &rates);
    published_order_expect(&order, &rates, published_run_share(&time, time.budget, order.n));
    if (status == ST_OK) status = mark_known(plan, &order);
    if (status == ST_OK) status = show(plan, &order, &time, &rates, guessed);
    published_order_free(&order);
    return status;
}
