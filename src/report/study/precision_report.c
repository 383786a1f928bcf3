#include "report/study/precision_report.h"

#include "base/human.h"
#include "bench/record/component_dtypes.h"
#include "bench/record/record_stat.h"
#include "bench/study/accumulation.h"
#include "report/format/table_write.h"
#include "report/records/precision_gain.h"
#include "report/records/record_notes.h"
#include "report/study/precision_data.h"

#include <math.h>
#include <string.h>

/* ---- sums ---- */

/* As many decimals as the write-ups print, unless that would show zeros alone. */
static void sum_cell(Table *table, double x)
{
    table_cell_printf(table, fabs(x) >= 0.01 && fabs(x) < 1e6 ? "%.4f" : "%.6g", x);
}

static void sums(Table *table, const PrecisionReport *r)
{
    table_column(table, "sum += term", "", false);
    for (int o = 0; o < ACCUMULATION_ORDERS; o++)
        table_column(table, accumulation_orders[o], "", true);
    for (int w = 0; w < accumulation_n_ways; w++) {
        const AccumulationWay *way = &accumulation_ways[w];
        table_cell(table, way->name);
        for (int o = 0; o < ACCUMULATION_ORDERS; o++)
            sum_cell(table, accumulation_sum(way, (AccumulationOrder)o, r->count, r->value));
    }
    table_note_printf(table, "%s terms of %.15g; exact sum: %.15g", human_count(r->count).s,
                      r->value, (double)r->count * r->value);
    table_note(table,
               "fp32(fp16): each term is rounded to 16 bits and widened before it is added; each "
               "addition is rounded to the dtype of the sum",
               NULL);
}

/* ---- dtypes ---- */

static void dtypes(Table *table, const RecordSet *rows)
{
    table_column(table, "component", "", false);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (record_value(row, "dtypes"))
            table_column(table, record_text(row, "precision"), "", false);
    }
    for (int c = 0; c < COMPONENT_COUNT; c++) {
        table_cell(table, component_dtypes_names[c]);
        for (size_t i = 0; i < record_set_size(rows); i++) {
            const json_t *list = record_value(record_set_at(rows, i), "dtypes");
            const json_t *dtype = json_object_get(list, component_dtypes_names[c]);
            if (list) table_cell(table, dtype ? json_string_value(dtype) : "-");
        }
    }
    table_note(table,
               "dtypes of the plans that ran; not in memory: computed and used inside one op",
               NULL);
}

/* ---- errors ---- */

static void error_cell(Table *table, const json_t *x)
{
    if (json_is_number(x))
        table_cell_printf(table, "%.2e", json_number_value(x));
    else
        table_cell(table, "not finite");
}

/* One column for each precision and way to scale its loss. */
static void error_row(Table *table, const RecordSet *rows, const char *label, const char *field,
                      const char *part)
{
    PrecisionRun run = {0};
    table_cell(table, label);
    while (precision_data_next(rows, &run))
        error_cell(table,
                   part ? precision_data_part(run.error, part) : json_object_get(run.error, field));
}

static void errors(Table *table, const RecordSet *rows)
{
    PrecisionRun run = {0};
    table_column(table, "relative error of", "", false);
    while (precision_data_next(rows, &run)) table_column(table, run.label, "", true);
    run = (PrecisionRun){0};
    if (!precision_data_next(rows, &run)) return;
    error_row(table, rows, "loss", "loss", NULL);
    error_row(table, rows, "logits", "logits", NULL);
    error_row(table, rows, "all gradients", "gradients", NULL);
    const json_t *parts = json_object_get(run.error, "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(parts, i), "name"));
        Text label = {0};
        text_printf(&label, "gradients of %s", name);
        error_row(table, rows, text_str(&label), NULL, name);
        table->failed = table->failed || label.failed;
        text_free(&label);
    }
    table_note(
        table,
        "relative error = norm of the difference / norm, against the same forward and backward "
        "pass in float64 on the CPU; csv and json have every tensor",
        NULL);
}

/* ---- both ends of the range ---- */

static void share_cell(Table *table, int64_t n, int64_t of)
{
    const double percent = of > 0 ? 100 * (double)n / (double)of : 0;
    if (n == 0)
        table_cell(table, "0");
    else
        table_cell_printf(table, "%s (%.2g %%)", human_count(n).s, percent);
}

static void range_row(Table *table, const PrecisionRun *run)
{
    const PrecisionLoss lost = precision_data_lost(run->error);
    const json_t *all = json_object_get(run->error, "backward");
    const int64_t elements = json_integer_value(json_object_get(all, "elements"));
    static const char *const names[] = {"zero", "subnormal", "nonfinite"};
    table_cell(table, run->label);
    table_cell_printf(table, "%g", json_number_value(json_object_get(run->error, "loss_scale")));
    table_cell_printf(table, "%lld",
                      (long long)json_integer_value(json_object_get(run->error, "overflowed")));
    share_cell(table, lost.lost, lost.elements);
    share_cell(table, lost.nonfinite, lost.elements);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        share_cell(table, json_integer_value(json_object_get(all, names[i])), elements);
}

static void range(Table *table, const RecordSet *rows)
{
    static const char *const labels[] = {
        "loss scale",     "attempts that overflowed", "underflow to 0",      "overflow",
        "backward: zero", "backward: subnormal",      "backward: not finite"};
    PrecisionRun run = {0};
    table_column(table, "gradients in", "", false);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        table_column(table, labels[i], "", true);
    TABLE_SPARE(table, "attempts that overflowed", "overflow");
    while (precision_data_next(rows, &run)) {
        const json_t *all = json_object_get(run.error, "backward");
        if (json_integer_value(json_object_get(all, "elements")) > 0) range_row(table, &run);
    }
    table_note(
        table,
        "underflow: elements of parameter gradients that are 0 but not 0 in float64; backward: "
        "all 16-bit tensors that the backward pass writes",
        NULL);
}

/* ---- what it costs ---- */

static const Record *row_of(const RecordSet *rows, const char *precision)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const char *name = record_text(record_set_at(rows, i), "precision");
        if (name && strcmp(name, precision) == 0) return record_set_at(rows, i);
    }
    return NULL;
}

/* "12.3 ± 0.2" */
static void step_cell(Table *table, const Record *row)
{
    double ms, spread;
    if (!record_stat_ms(row, "step", &ms))
        table_cell(table, "-");
    else if (record_stat_spread(row, "step", &spread))
        table_cell_printf(table, "%.4g ± %.2g", ms, spread);
    else
        table_cell_printf(table, "%.4g", ms);
}

static void speedup_cell(Table *table, const Record *first, const Record *row)
{
    double x, y;
    if (first && record_stat_ms(first, "step", &x) && record_stat_ms(row, "step", &y) && y > 0)
        table_cell_printf(table, "%.2f", x / y);
    else
        table_cell(table, "-");
}

static void number_cell(Table *table, const Record *row, const char *path, const char *fmt)
{
    double x;
    char text[64];
    snprintf(text, sizeof text, fmt, record_number(row, path, &x) ? x : NAN);
    table_cell(table, record_number(row, path, &x) ? text : "-");
}

/* How often `row` fits into the first one. */
static void ratio_cell(Table *table, const Record *first, const Record *row, const char *path)
{
    double x, y;
    if (first && record_number(first, path, &x) && record_number(row, path, &y) && y > 0)
        table_cell_printf(table, "%.2f", x / y);
    else
        table_cell(table, "-");
}

static void price(Table *table, const RecordSet *rows)
{
    static const char *const labels[] = {"speed-up", "tokens/s", "peak (MiB)", "less memory",
                                         "error of gradients"};
    const Stat stat = record_stat_of_set(rows);
    char step[32];
    const Record *fp32 = row_of(rows, "fp32");
    table_column(table, "precision", "", false);
    snprintf(step, sizeof step, "step, %s", config_stat_name(stat));
    table_column(table, step, "ms", true);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        table_column(table, labels[i], "", true);
    table_column(table, "status", "", false);
    TABLE_SPARE(table, "tokens/s");
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const json_t *error = json_array_get(record_value(row, "errors"), 0);
        table_cell(table, record_text(row, "precision"));
        step_cell(table, row);
        speedup_cell(table, fp32, row);
        number_cell(table, row, "tokens_per_s", "%.4g");
        number_cell(table, row, "peak_alloc_mib", "%.1f");
        ratio_cell(table, fp32, row, "peak_alloc_mib");
        if (error)
            error_cell(table, json_object_get(error, "gradients"));
        else
            table_cell(table, "-");
        table_cell(table, record_status_word(record_status(row)));
        const char *message = record_text(row, "message");
        if (message) table_note_printf(table, "%s: %s", record_text(row, "precision"), message);
    }
    record_notes_stat(table, stat);
    table_note(table, "speed-up and less memory are relative to fp32, if it is among the rows",
               NULL);
    precision_gain_note(table, rows);
}

/* ---- all of it ---- */

static Status write_tables(Text *out, const char *format, const PrecisionReport *r)
{
    static void (*const tables[])(Table * table, const RecordSet *rows) = {dtypes, errors, range,
                                                                           price};
    Table table = {0};
    sums(&table, r);
    TRY(table_write_next(out, format, &table));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        tables[i](&table, r->rows);
        TRY(table_write_next(out, format, &table));
    }
    return ST_OK;
}

Status precision_report_write(Text *out, const char *format, const PrecisionReport *r)
{
    if (strcmp(format, "json") == 0) return precision_data_json(out, r);
    if (strcmp(format, "csv") == 0) return precision_data_csv(out, r->rows);
    return write_tables(out, format, r);
}
