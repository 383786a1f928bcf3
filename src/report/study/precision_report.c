#include "report/study/precision_report.h"

#include "base/human.h"
#include "bench/record/component_dtypes.h"
#include "bench/record/record_stat.h"
#include "bench/study/accumulation.h"
#include "report/format/csv_writer.h"
#include "report/format/table_write.h"
#include "report/records/cell_text.h"
#include "report/records/precision_gain.h"
#include "report/records/record_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the runs of all rows ---- */

/* One run of a row: fp16 has two, with the loss scaled and not. */
typedef struct PrecisionRun {
    const Record *row;
    const json_t *error; /* an element of its "errors" */
    char label[48];      /* "fp32", "fp16, scaling none" */
    size_t next_row, next_error;
} PrecisionRun;

/* Steps a zeroed one through all runs; false after the last. */
static bool next_run(const RecordSet *rows, PrecisionRun *run)
{
    for (; run->next_row < record_set_size(rows); run->next_row++, run->next_error = 0) {
        run->row = record_set_at(rows, run->next_row);
        const json_t *errors = record_value(run->row, "errors");
        if (run->next_error >= json_array_size(errors)) continue;
        run->error = json_array_get(errors, run->next_error++);
        const bool several = json_array_size(errors) > 1;
        snprintf(run->label, sizeof run->label, "%s%s%s", record_text(run->row, "precision"),
                 several ? ", scaling " : "",
                 several ? record_text(run->error, "loss_scaling") : "");
        return true;
    }
    return false;
}

static int64_t integer(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

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
               "addition is rounded to the dtype of the sum");
}

/* ---- dtypes ---- */

/* A model without RoPE has no q and k after it. */
static bool any_has(const RecordSet *rows, const char *component)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const json_t *list = record_value(record_set_at(rows, i), "dtypes");
        const char *dtype = json_string_value(json_object_get(list, component));
        if (dtype && strcmp(dtype, "-") != 0) return true;
    }
    return false;
}

static void dtypes(Table *table, const RecordSet *rows)
{
    table_column(table, "component", "", false);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (record_value(row, "dtypes"))
            table_column(table, record_text(row, "precision"), "", false);
    }
    for (int c = 0; c < COMPONENT_COUNT; c++) {
        if (!any_has(rows, component_dtypes_names[c])) continue;
        table_cell(table, component_dtypes_names[c]);
        for (size_t i = 0; i < record_set_size(rows); i++) {
            const json_t *list = record_value(record_set_at(rows, i), "dtypes");
            const json_t *dtype = json_object_get(list, component_dtypes_names[c]);
            if (list) table_cell(table, dtype ? json_string_value(dtype) : "-");
        }
    }
    table_note(table,
               "dtypes of the plans that ran; not in memory: computed and used inside one op");
}

/* ---- errors ---- */

static void error_cell(Table *table, const json_t *x)
{
    if (json_is_number(x))
        table_cell_printf(table, "%.2e", json_number_value(x));
    else
        table_cell(table, "not finite");
}

/* The error of the gradients of a part ("layers.0"); NULL if it has none. */
static const json_t *part_error(const json_t *error, const char *name)
{
    const json_t *parts = json_object_get(error, "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        const char *other = json_string_value(json_object_get(part, "name"));
        if (other && strcmp(other, name) == 0) return json_object_get(part, "error");
    }
    return NULL;
}

/* One column for each precision and way to scale its loss. */
static void error_cells(Table *table, const RecordSet *rows, const char *field, const char *part)
{
    PrecisionRun run = {0};
    while (next_run(rows, &run))
        error_cell(table, part ? part_error(run.error, part) : json_object_get(run.error, field));
}

static const char *const whole[] = {"loss", "logits", "gradients"};
enum { WHOLE = sizeof whole / sizeof *whole };

static void note_chunks(Table *table, const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const int64_t chunks = integer(record_set_at(rows, i), "logits_chunks");
        if (chunks < 2) continue;
        table_note_printf(table,
                          "head and loss ran in %lld chunks of rows: the gradient of the head's "
                          "weight is rounded once for each",
                          (long long)chunks);
        return;
    }
}

static void errors(Table *table, const RecordSet *rows)
{
    PrecisionRun run = {0};
    table_column(table, "relative error of", "", false);
    while (next_run(rows, &run)) table_column(table, run.label, "", true);
    run = (PrecisionRun){0};
    if (!next_run(rows, &run)) return;
    for (size_t i = 0; i < WHOLE; i++) {
        table_cell(table, strcmp(whole[i], "gradients") == 0 ? "all gradients" : whole[i]);
        error_cells(table, rows, whole[i], NULL);
    }
    const json_t *parts = json_object_get(run.error, "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(parts, i), "name"));
        table_cell_printf(table, "gradients of %s", name);
        error_cells(table, rows, NULL, name);
    }
    table_note(
        table,
        "relative error = norm of the difference / norm, against the same forward and backward "
        "pass in float64 on the CPU; csv and json have every tensor");
    note_chunks(table, rows);
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
    static const char *const names[] = {"zero", "subnormal", "nonfinite"};
    const json_t *tensors = json_object_get(run->error, "tensors");
    const json_t *all = json_object_get(run->error, "backward");
    int64_t elements = 0, lost = 0, nonfinite = 0; /* of all parameters' gradients */
    for (size_t i = 0; i < json_array_size(tensors); i++) {
        const json_t *tensor = json_array_get(tensors, i);
        elements += integer(tensor, "elements");
        lost += integer(tensor, "lost");
        nonfinite += integer(tensor, "nonfinite");
    }
    table_cell(table, run->label);
    table_cell_printf(table, "%g", json_number_value(json_object_get(run->error, "loss_scale")));
    table_cell_printf(table, "%lld", (long long)integer(run->error, "overflowed"));
    share_cell(table, lost, elements);
    share_cell(table, nonfinite, elements);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        share_cell(table, integer(all, names[i]), integer(all, "elements"));
}

static void range(Table *table, const RecordSet *rows)
{
    PrecisionRun run = {0};
    TABLE_COLUMNS(table, 1, "gradients in", "loss scale", "attempts that overflowed",
                  "underflow to 0", "overflow", "backward: zero", "backward: subnormal",
                  "backward: not finite");
    TABLE_SPARE(table, "attempts that overflowed", "overflow");
    while (next_run(rows, &run)) {
        if (integer(json_object_get(run.error, "backward"), "elements") > 0) range_row(table, &run);
    }
    table_note(
        table,
        "underflow: elements of parameter gradients that are 0 but not 0 in float64; backward: "
        "all 16-bit gradients that are written, of activations too");
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
    if (record_stat_ms(row, "step", &ms) && record_stat_spread(row, "step", &spread))
        table_cell_printf(table, "%.4g ± %.2g", ms, spread);
    else
        table_cell_number(table, "%.4g", record_stat_ms(row, "step", &ms) ? ms : NAN);
}

/* How much smaller than the first one it is. */
static void ratio_cell(Table *table, const Record *first, const Record *row,
                       bool (*read)(const Record *, const char *, double *), const char *name)
{
    double x, y;
    const bool known = first && read(first, name, &x) && read(row, name, &y) && y > 0;
    table_cell_number(table, "%.2f", known ? x / y : NAN);
}

static void price(Table *table, const RecordSet *rows)
{
    const Stat stat = record_stat_of_set(rows);
    char step[32];
    const Record *fp32 = row_of(rows, "fp32");
    snprintf(step, sizeof step, "step, %s (ms)", config_stats[stat]);
    TABLE_COLUMNS(table, 1, "precision", step, "speed-up", "tokens/s", "peak (MiB)", "less memory",
                  "error of gradients");
    table_column(table, "status", "", false);
    TABLE_SPARE(table, "tokens/s");
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const json_t *error = json_array_get(record_value(row, "errors"), 0);
        table_cell(table, record_text(row, "precision"));
        step_cell(table, row);
        ratio_cell(table, fp32, row, record_stat_ms, "step");
        table_cell_number(table, "%.4g", record_real(row, "tokens_per_s"));
        table_cell_number(table, "%.1f", record_real(row, "peak_alloc_mib"));
        ratio_cell(table, fp32, row, record_number, "peak_alloc_mib");
        if (error)
            error_cell(table, json_object_get(error, "gradients"));
        else
            table_cell(table, "-");
        table_cell(table, cell_text_status(record_status(row)));
        const char *message = record_text(row, "message");
        if (message) table_note_printf(table, "%s: %s", record_text(row, "precision"), message);
    }
    record_notes_stat(table, stat);
    table_note(table, "speed-up and less memory are relative to fp32, if it is among the rows");
    precision_gain_note(table, rows);
}

/* ---- json ---- */

static json_t *sums_json(const PrecisionReport *r)
{
    json_t *ways = json_array();
    for (int w = 0; w < accumulation_n_ways; w++) {
        const AccumulationWay *way = &accumulation_ways[w];
        json_t *json = json_pack("{s:s}", "way", way->name);
        for (int o = 0; o < ACCUMULATION_ORDERS; o++) {
            const double sum = accumulation_sum(way, (AccumulationOrder)o, r->count, r->value);
            (void)record_put_number(json, accumulation_orders[o], sum);
        }
        json_array_append_new(ways, json);
    }
    return json_pack("{s:I, s:f, s:o}", "count", (json_int_t)r->count, "value", r->value, "sums",
                     ways);
}

/* ---- csv: long form, a row per tensor ---- */

static void put_row(Text *out, const PrecisionRun *run, const char *name, const json_t *error,
                    const json_t *counts)
{
    text_printf(out, "%s,", record_text(run->row, "precision"));
    csv_writer_field(out, record_text(run->error, "loss_scaling"));
    text_puts(out, ",");
    csv_writer_field(out, name);
    if (json_is_number(error))
        text_printf(out, ",%.6g", json_number_value(error));
    else
        text_puts(out, ",");
    if (counts)
        text_printf(out, ",%lld,%lld,%lld\n", (long long)integer(counts, "elements"),
                    (long long)integer(counts, "lost"), (long long)integer(counts, "nonfinite"));
    else
        text_puts(out, ",,,\n");
}

static Status write_csv(Text *out, const RecordSet *rows)
{
    PrecisionRun run = {0};
    text_puts(out, "precision,loss_scaling,tensor,error,elements,lost,nonfinite\n");
    while (next_run(rows, &run)) {
        for (size_t i = 0; i < WHOLE; i++)
            put_row(out, &run, whole[i], json_object_get(run.error, whole[i]), NULL);
        const json_t *tensors = json_object_get(run.error, "tensors");
        for (size_t i = 0; i < json_array_size(tensors); i++) {
            const json_t *tensor = json_array_get(tensors, i);
            put_row(out, &run, record_text(tensor, "name"), json_object_get(tensor, "error"),
                    tensor);
        }
    }
    return text_status(out);
}

/* ---- formats ---- */

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
    if (strcmp(format, "json") == 0)
        return report_study_json(out, r->rows, "accumulation", sums_json(r));
    if (strcmp(format, "csv") == 0) return write_csv(out, r->rows);
    return write_tables(out, format, r);
}
