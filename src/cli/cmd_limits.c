/* roofstep limits: the machine's measured roof. */
#include "base/human.h"
#include "bench/limits.h"
#include "bench/limits_json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/report_latex.h"
#include "report/report_md.h"
#include "report/report_typst.h"

#include <stdio.h>
#include <string.h>

static void put_rate(Table *table, const LimitsRate *r)
{
    char range[96];
    table_cell(table, r->n ? human_number(r->median / 1e9, 4).s : "-");
    snprintf(range, sizeof range, "%s .. %s", human_number(r->min / 1e9, 4).s,
             human_number(r->max / 1e9, 4).s);
    table_cell(table, r->n ? range : "-");
}

static void put_notes(Table *table, const Limits *limits)
{
    char line[512];
    const LimitsKey *key = &limits->key;
    snprintf(line, sizeof line, "%s, %d cores, %d threads, %s; measured %s in %.0f s%s", key->cpu,
             key->cores, key->threads, key->blas, limits->time_utc, limits->seconds,
             limits->stored ? " (stored; --refresh measures again)" : "");
    table_note(table, line, NULL);
    table_note(
        table,
        "median, and range of the repetitions; products as the engine runs them: squares for "
        "the largest rate, forward, dX and dW those of the small model with 512 tokens",
        NULL);
    if (!limits_was_busy(limits)) return;
    snprintf(line, sizeof line,
             "other programs took %.0f %% and the host %.0f %% of the processors meanwhile: these "
             "figures may be too low",
             100 * limits->others, 100 * limits->steal);
    table_note(table, line, NULL);
}

static void fill_table(Table *table, const Limits *limits)
{
    char heading[64];
    snprintf(heading, sizeof heading, "%d threads", limits->key.threads);
    table_column(table, "limit", "", false);
    table_column(table, "unit", "", false);
    table_column(table, "one core", "", true);
    table_column(table, "range", "", true);
    table_column(table, heading, "", true);
    table_column(table, "range", "", true);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        table_cell(table, limits_names[i].label);
        table_cell(table, limits_names[i].kind == LIMITS_MEMORY ? "GB/s" : "GFLOP/s");
        put_rate(table, &limits->rate[i][LIMITS_ONE]);
        put_rate(table, &limits->rate[i][LIMITS_ALL]);
    }
    put_notes(table, limits);
}

static Status write_table(Text *text, const char *format, const Limits *limits)
{
    Table table = {0};
    fill_table(&table, limits);
    Status status = table_status(&table);
    if (status == ST_OK && strcmp(format, "latex") == 0) {
        status = report_latex_table(text, &table);
    } else if (status == ST_OK && strcmp(format, "typst") == 0) {
        status = report_typst_table(text, &table);
    } else if (status == ST_OK) {
        status = report_md_table(text, &table);
    }
    table_free(&table);
    return status;
}

static Status write_json(Text *text, const Limits *limits)
{
    json_t *json;
    TRY(limits_json_encode(&json, limits));
    const Status status = output_json(text, json);
    json_decref(json);
    return status;
}

/* Per second, not in thousand millions: for programs. */
static Status write_csv(Text *text, const Limits *limits)
{
    text_puts(text, "limit,unit,threads,median,min,max,n\n");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        for (int scope = 0; scope < LIMITS_SCOPES; scope++) {
            const LimitsRate *r = &limits->rate[i][scope];
            text_printf(text, "%s,%s,%d,%.6g,%.6g,%.6g,%d\n", limits_names[i].name,
                        limits_names[i].kind == LIMITS_MEMORY ? "byte/s" : "FLOP/s",
                        scope == LIMITS_ONE ? 1 : limits->key.threads, r->median, r->min, r->max,
                        r->n);
        }
    }
    return text_status(text);
}

static Status write_as(Text *text, const char *format, const Limits *limits)
{
    if (strcmp(format, "json") == 0) return write_json(text, limits);
    if (strcmp(format, "csv") == 0) return write_csv(text, limits);
    return write_table(text, format, limits);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)exit_code;
    Limits limits;
    Text text = {0};
    TRY(limits_get((int)sweep->configs[0].threads, settings->refresh, &limits));
    Status status = write_as(&text, settings->format, &limits);
    if (status == ST_OK) status = output_text(settings, &text);
    text_free(&text);
    return status;
}

const Command cmd_limits = {
    .name = "limits",
    .summary = "the machine's measured roof: matrix products and memory bandwidth",
    .help =
        "Measures once, in some 15 s, and keeps the figures (~/.cache/roofstep): bench sets its\n"
        "times against them. Leave the machine alone meanwhile.\n\n"
        "  roofstep limits\n"
        "  roofstep limits --refresh --format json\n",
    .options = {.taken = OPTION_BIT(THREADS) | OPTION_BIT(REFRESH) | OPTIONS_OUTPUT,
                .formats = "md csv json latex typst"},
    .run = run,
};
