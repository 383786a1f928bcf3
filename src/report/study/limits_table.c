#include "report/study/limits_table.h"

#include "base/human.h"
#include "bench/limits/datasheet.h"
#include "bench/limits/limits_gpu.h"
#include "bench/limits/roofline.h"

#include <stdio.h>

/* The unit that people read: GFLOP/s of a CPU, TFLOP/s of a GPU. */
typedef struct Shown {
    const char *unit;
    double one; /* of it in the unit of the limit */
} Shown;

static Shown shown_of(const LimitsKey *key, LimitId id)
{
    switch (limits_names[id].kind) {
    case LIMITS_MATMUL:
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
    Text text = {0};
    const LimitsKey *key = &limits->key;
    if (*key->gpu)
        text_printf(&text, "%s, %d multiprocessors", key->gpu, key->multiprocessors);
    else
        text_printf(&text, "%s, %d cores, %d threads", key->cpu, key->cores, key->threads);
    text_printf(&text, ", %s; measured %s in %.0f s%s", key->blas, limits->time_utc,
                limits->seconds, limits->stored ? " (stored; --refresh measures again)" : "");
    table_note_text(table, &text);
}

static void put_notes(Table *table, const Limits *limits)
{
    const bool gpu = *limits->key.gpu;
    put_device(table, limits);
    table_note_printf(
        table,
        "medians and ranges of repeated measurements; matmuls run as in a step: large is the best "
        "of several shapes; forward, dX and dW have the shapes of the %s model with %d tokens; MFU "
        "divides by the upper end of a precision's ranges",
        gpu ? LIMITS_GPU_MODEL : "small", gpu ? LIMITS_GPU_TOKENS : 512);
    if (gpu)
        table_note(table,
                   "a copy counts bytes read and bytes written; data sheet rates are without "
                   "sparsity; '-' if the GPU is unknown");
    if (*limits->throttled)
        table_note_printf(table, "the GPU was throttled during the measurement: %s",
                          limits->throttled);
    if (!limits_was_busy(limits)) return;
    if (gpu)
        table_note_printf(
            table,
            "other programs used the GPU %.0f %% of the time just before: these figures may be "
            "too low",
            100 * limits->others);
    else
        table_note_printf(table,
                          "other programs used %.0f %% and other virtual machines %.0f %% of CPU "
                          "time during the measurement: these figures may be too low",
                          100 * limits->others, 100 * limits->steal);
}

static void put_columns(Table *table, const LimitsKey *key)
{
    char threads[64];
    snprintf(threads, sizeof threads, "%d threads", key->threads);
    table->title = "What this machine reaches";
    if (*key->gpu)
        TABLE_COLUMNS(table, 2, "limit", "unit", "measured", "range", "data sheet",
                      "% of data sheet");
    else
        TABLE_COLUMNS(table, 2, "limit", "unit", "one core", "range", threads, "range");
}

static void put_datasheet(Table *table, const Limits *limits, LimitId id, double one)
{
    const double datasheet = datasheet_find(limits->key.gpu, id);
    const LimitsRate *r = &limits->rate[id][LIMITS_ALL];
    table_cell(table, datasheet > 0 ? human_number(datasheet / one, 4).s : "-");
    table_cell(table, datasheet > 0 && r->n ? human_number(100 * r->median / datasheet, 3).s : "-");
}

void limits_table_fill(Table *table, const Limits *limits)
{
    put_columns(table, &limits->key);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (!limits_shows(limits, (LimitId)i)) continue;
        const Shown shown = shown_of(&limits->key, (LimitId)i);
        table_cell(table, limits_names[i].label);
        table_cell(table, shown.unit);
        if (limits_has_scope(&limits->key, (LimitId)i, LIMITS_ONE))
            put_rate(table, &limits->rate[i][LIMITS_ONE], shown.one);
        else if (!*limits->key.gpu)
            table_dashes(table, 2);
        put_rate(table, &limits->rate[i][LIMITS_ALL], shown.one);
        if (*limits->key.gpu) put_datasheet(table, limits, (LimitId)i, shown.one);
    }
    put_notes(table, limits);
}

void limits_table_balance(Text *out, const Limits *limits)
{
    const double bandwidth = roofline_bandwidth(limits);
    const char *separator = "";
    for (int p = 0; p < PRECISION_COUNT && bandwidth > 0; p++) {
        const double peak = limits_peak_flops(limits, (Precision)p);
        const LimitsRate *largest = &limits->rate[limits_largest((Precision)p)][LIMITS_ALL];
        if (!(peak > 0) || largest->n == 0) continue;
        if (!*separator)
            text_printf(out, "With %s GB/s of memory, what multiplies is compute-bound above ",
                        human_number(bandwidth / 1e9, 4).s);
        text_printf(out, "%s%s FLOP/byte in %s", separator, human_number(peak / bandwidth, 3).s,
                    config_precisions[p]);
        separator = ", ";
    }
    if (*separator) text_puts(out, "; below it memory bounds it.");
}
