/* roofstep limits: the machine's measured roof. */
#include "base/human.h"
#include "bench/datasheet.h"
#include "bench/limits.h"
#include "bench/limits_gpu.h"
#include "bench/limits_json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/report_latex.h"
#include "report/report_md.h"
#include "report/report_typst.h"

#include <stdio.h>
#include <string.h>

/* What people read of a figure: thousand millions of a CPU, millions of millions of a GPU. */
typedef struct Shown {
    const char *unit;
    double one; /* that unit, in those of the limit */
} Shown;

static Shown shown_of(const LimitsKey *key, LimitId id)
{
    switch (limits_names[id].kind) {
    case LIMITS_PRODUCT:
        return *key->gpu ? (Shown){"TFLOP/s", 1e12} : (Shown){"GFLOP/s", 1e9};
    case LIMITS_LATENCY:
        return (Shown){"us", 1e-6};
    case LIMITS_LAUNCHES:
        return (Shown){"1000/s", 1e3};
    default:
        return (Shown){"GB/s", 1e9};
    }
}

static void put_rate(Table *table, const LimitsRate *r, double one)
{
    char range[96];
    table_cell(table, r->n ? human_number(r->median / one, 4).s : "-");
    snprintf(range, sizeof range, "%s .. %s", human_number(r->min / one, 4).s,
             human_number(r->max / one, 4).s);
    table_cell(table, r->n ? range : "-");
}

static void put_device(Table *table, const Limits *limits)
{
    char line[512];
    const LimitsKey *key = &limits->key;
    Text text = {0};
    if (*key->gpu) {
        text_printf(&text, "%s, %d multiprocessors, %s", key->gpu, key->multiprocessors, key->blas);
    } else {
        text_printf(&text, "%s, %d cores, %d threads, %s", key->cpu, key->cores, key->threads,
                    key->blas);
    }
    snprintf(line, sizeof line, "%s; measured %s in %.0f s%s", text_str(&text), limits->time_utc,
             limits->seconds, limits->stored ? " (stored; --refresh measures again)" : "");
    table_note(table, line, NULL);
    text_free(&text);
}

static void put_method(Table *table, const LimitsKey *key)
{
    char line[512];
    snprintf(
        line, sizeof line,
        "median, and range of the repetitions; products as the engine runs them: large ones for "
        "the largest rate, forward, dX and dW those of the %s model with %d tokens",
        *key->gpu ? LIMITS_GPU_MODEL : "small", *key->gpu ? LIMITS_GPU_TOKENS : 512);
    table_note(table, line, NULL);
    if (!*key->gpu) return;
    table_note(
        table,
        "a copy counts what is read and what is written; data sheet: without sparsity, where "
        "this program knows it",
        NULL);
}

static void put_notes(Table *table, const Limits *limits)
{
    char line[512];
    put_device(table, limits);
    put_method(table, &limits->key);
    if (*limits->throttled) {
        snprintf(line, sizeof line, "the GPU was slowed down meanwhile: %s", limits->throttled);
        table_note(table, line, NULL);
    }
    if (!limits_was_busy(limits)) return;
    if (*limits->key.gpu) {
        snprintf(line, sizeof line,
                 "other programs used the GPU in %.0f %% of the time before: these figures may be "
                 "too low",
                 100 * limits->others);
    } else {
        snprintf(line, sizeof line,
                 "other programs took %.0f %% and the host %.0f %% of the processors meanwhile: "
                 "these figures may be too low",
                 100 * limits->others, 100 * limits->steal);
    }
    table_note(table, line, NULL);
}

static void put_columns(Table *table, const LimitsKey *key)
{
    char heading[64];
    table_column(table, "limit", "", false);
    table_column(table, "unit", "", false);
    if (*key->gpu) {
        table_column(table, "measured", "", true);
        table_column(table, "range", "", true);
        table_column(table, "data sheet", "", true);
        table_column(table, "of it", "%", true);
        return;
    }
    snprintf(heading, sizeof heading, "%d threads", key->threads);
    table_column(table, "one core", "", true);
    table_column(table, "range", "", true);
    table_column(table, heading, "", true);
    table_column(table, "range", "", true);
}

static void put_promise(Table *table, const Limits *limits, LimitId id, double one)
{
    const double promised = datasheet_find(limits->key.gpu, id);
    const LimitsRate *r = &limits->rate[id][LIMITS_ALL];
    table_cell(table, promised > 0 ? human_number(promised / one, 4).s : "-");
    table_cell(table, promised > 0 && r->n ? human_number(100 * r->median / promised, 3).s : "-");
}

static void fill_table(Table *table, const Limits *limits)
{
    put_columns(table, &limits->key);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (!limits_has(&limits->key, (LimitId)i)) continue;
        const Shown shown = shown_of(&limits->key, (LimitId)i);
        table_cell(table, limits_names[i].label);
        table_cell(table, shown.unit);
        if (!*limits->key.gpu) put_rate(table, &limits->rate[i][LIMITS_ONE], shown.one);
        put_rate(table, &limits->rate[i][LIMITS_ALL], shown.one);
        if (*limits->key.gpu) put_promise(table, limits, (LimitId)i, shown.one);
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

static void put_csv_row(Text *text, LimitId id, int threads, const LimitsRate *r)
{
    text_printf(text, "%s,%s,%d,%.6g,%.6g,%.6g,%d\n", limits_names[id].name, limits_unit(id),
                threads, r->median, r->min, r->max, r->n);
}

/* Per second, not in thousand millions: for programs. A GPU's rows have 0 threads. */
static Status write_csv(Text *text, const Limits *limits)
{
    text_puts(text, "limit,unit,threads,median,min,max,n\n");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const LimitId id = (LimitId)i;
        if (!limits_has(&limits->key, id)) continue;
        if (!*limits->key.gpu) put_csv_row(text, id, 1, &limits->rate[i][LIMITS_ONE]);
        put_csv_row(text, id, limits->key.threads, &limits->rate[i][LIMITS_ALL]);
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
    TRY(limits_get(&sweep->configs[0], settings->refresh, settings->keep, &limits));
    Status status = write_as(&text, settings->format, &limits);
    if (status == ST_OK) status = output_text(settings, &text);
    text_free(&text);
    return status;
}

const Command cmd_limits = {
    .name = "limits",
    .summary = "the machine's measured roof: matrix products, memory bandwidth, launches",
    .help =
        "Measures once, in less than a minute, and keeps the figures (~/.cache/roofstep): bench\n"
        "sets its times against them. Leave the machine alone meanwhile: figures of a busy one are "
        "shown\n"
        "but not kept, unless --keep says so.\n\n"
        "  roofstep limits\n"
        "  roofstep limits --device cuda\n"
        "  roofstep limits --refresh --format json\n",
    .options = {.taken = OPTION_BIT(DEVICE) | OPTION_BIT(THREADS) | OPTION_BIT(REFRESH) |
                         OPTION_BIT(KEEP) | OPTIONS_OUTPUT,
                .formats = "md csv json latex typst"},
    .run = run,
};
