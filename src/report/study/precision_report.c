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
#include "report/study/precision_errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sums ---- */

/* As many decimals as the write-ups print, unless that would show zeros alone. */
static void sum_cell(Table *table, double x)
{
    table_cell_printf(table, fabs(x) >= 0.01 && fabs(x) < 1e6 ? "%.4f" : "%.6g", x);
}

static void sums(Table *table, const PrecisionReport *r)
{
    table->title = "Sums in narrow numbers";
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
    table->title = "Dtypes of every part";
    table_column(table, "component", "", false);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (record_value(row, "dtypes"))
            table_column(table, precision_errors_name(row).s, "", false);
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
    table->title = "Time and memory of each precision";
    TABLE_COLUMNS(table, 1, "precision", step, "speed-up", "tokens/s", "peak (MiB)", "less memory",
                  "error of gradients");
    table_column(table, "status", "", false);
    TABLE_SPARE(table, "tokens/s");
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const json_t *error = json_array_get(record_value(row, "errors"), 0);
        table_cell(table, precision_errors_name(row).s);
        step_cell(table, row);
        ratio_cell(table, fp32, row, record_stat_ms, "step");
        table_cell_number(table, "%.4g", record_real(row, "tokens_per_s"));
        table_cell_number(table, "%.1f", record_real(row, "peak_alloc_mib"));
        ratio_cell(table, fp32, row, record_number, "peak_alloc_mib");
        if (error)
            precision_errors_cell(table, json_object_get(error, "gradients"));
        else
            table_cell(table, "-");
        const bool emulated = record_text(row, "emulated") && record_status(row) == RECORD_OK;
        table_cell(table, emulated ? "emulated" : cell_text_status(record_status(row)));
        const char *message = record_text(row, "message");
        if (message) table_note_printf(table, "%s: %s", precision_errors_name(row).s, message);
        precision_errors_note_left(table, row);
    }
    record_notes_stat(table, stat);
    table_note(table, "speed-up and less memory are relative to fp32, if it is among the rows");
    precision_gain_note(table, rows);
}

/* The fastest of those that really run, beside fp32. */
static Status conclude(Text *out, const char *format, const RecordSet *rows)
{
    CLEANUP(text_free) Text text = {0};
    const Record *best = NULL, *fp32 = row_of(rows, "fp32");
    double least = INFINITY, ms, whole, x, y;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (record_text(row, "emulated") || !record_stat_ms(row, "step", &ms) || ms >= least)
            continue;
        least = ms, best = row;
    }
    if (!best) return ST_OK;
    text_printf(&text, "Fastest: %s, a step in %s", precision_errors_name(best).s,
                human_seconds(least / 1e3).s);
    if (fp32 && fp32 != best && record_stat_ms(fp32, "step", &whole))
        text_printf(&text, ", %s times as fast as fp32", human_number(whole / least, 3).s);
    if (fp32 && fp32 != best && record_number(fp32, "peak_alloc_mib", &x) &&
        record_number(best, "peak_alloc_mib", &y) && x > 0)
        text_printf(&text, " with %s times its memory", human_number(y / x, 3).s);
    const json_t *error = json_array_get(record_value(best, "errors"), 0);
    if (json_is_number(json_object_get(error, "gradients")))
        text_printf(&text, "; its gradients are %.2e off float64",
                    json_number_value(json_object_get(error, "gradients")));
    text_puts(&text, ".");
    return table_write_conclusion(out, format, &text);
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

static void put_row(Text *out, const PrecisionErrorsRun *run, const char *name, const json_t *error,
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
        text_printf(out, ",%lld,%lld,%lld", (long long)precision_errors_count(counts, "elements"),
                    (long long)precision_errors_count(counts, "lost"),
                    (long long)precision_errors_count(counts, "nonfinite"));
    else
        text_puts(out, ",,,");
    const char *recipe = record_text(run->row, "fp8_recipe");
    text_printf(out, ",%s\n", recipe ? recipe : "");
}

static Status write_csv(Text *out, const RecordSet *rows)
{
    PrecisionErrorsRun run = {0};
    text_puts(out, "precision,loss_scaling,tensor,error,elements,lost,nonfinite,fp8_recipe\n");
    while (precision_errors_next(rows, &run)) {
        for (size_t i = 0; i < PRECISION_WHOLE; i++)
            put_row(out, &run, precision_errors_whole[i],
                    json_object_get(run.error, precision_errors_whole[i]), NULL);
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
    static void (*const tables[])(Table * table, const RecordSet *rows) = {
        dtypes, precision_errors_table, precision_errors_range, precision_errors_operands, price};
    Table table = {0};
    sums(&table, r);
    TRY(table_write_next(out, format, &table));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        tables[i](&table, r->rows);
        TRY(table_write_next(out, format, &table));
    }
    return conclude(out, format, r->rows);
}

Status precision_report_write(Text *out, const char *format, const PrecisionReport *r)
{
    if (strcmp(format, "json") == 0)
        return report_study_json(out, r->rows, "accumulation", sums_json(r));
    if (strcmp(format, "csv") == 0) return write_csv(out, r->rows);
    return write_tables(out, format, r);
}
