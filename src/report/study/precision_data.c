#include "report/study/precision_data.h"

#include "base/json_text.h"
#include "bench/record/record_file.h"
#include "bench/study/accumulation.h"
#include "report/format/csv_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the runs of all rows ---- */

static void set_label(PrecisionRun *run, bool several)
{
    const char *precision = record_text(run->row, "precision");
    const char *scaling = record_text(run->error, "loss_scaling");
    if (several)
        snprintf(run->label, sizeof run->label, "%s, scaling %s", precision, scaling);
    else
        snprintf(run->label, sizeof run->label, "%s", precision);
}

bool precision_data_next(const RecordSet *rows, PrecisionRun *run)
{
    for (; run->next_row < record_set_size(rows); run->next_row++, run->next_error = 0) {
        run->row = record_set_at(rows, run->next_row);
        const json_t *errors = record_value(run->row, "errors");
        if (run->next_error >= json_array_size(errors)) continue;
        run->error = json_array_get(errors, run->next_error++);
        set_label(run, json_array_size(errors) > 1);
        return true;
    }
    return false;
}

const json_t *precision_data_part(const json_t *error, const char *name)
{
    const json_t *parts = json_object_get(error, "parts");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        const char *other = json_string_value(json_object_get(part, "name"));
        if (other && strcmp(other, name) == 0) return json_object_get(part, "error");
    }
    return NULL;
}

static int64_t integer(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

PrecisionLoss precision_data_lost(const json_t *error)
{
    PrecisionLoss sum = {0};
    const json_t *tensors = json_object_get(error, "tensors");
    for (size_t i = 0; i < json_array_size(tensors); i++) {
        const json_t *tensor = json_array_get(tensors, i);
        sum.elements += integer(tensor, "elements");
        sum.lost += integer(tensor, "lost");
        sum.nonfinite += integer(tensor, "nonfinite");
    }
    return sum;
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

Status precision_data_json(Text *out, const PrecisionReport *r)
{
    json_t *root = json_pack("{s:i, s:O, s:o, s:O}", "schema", RECORD_SCHEMA, "environment",
                             json_array_get(r->rows->environments, 0), "accumulation", sums_json(r),
                             "results", r->rows->results);
    char *dump = root ? json_text_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(root);
    if (!dump) return NO_MEMORY("for the result as JSON");
    text_puts(out, dump);
    text_puts(out, "\n");
    free(dump);
    return text_status(out);
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

Status precision_data_csv(Text *out, const RecordSet *rows)
{
    static const char *const whole[] = {"loss", "logits", "gradients"};
    PrecisionRun run = {0};
    text_puts(out, "precision,loss_scaling,tensor,error,elements,lost,nonfinite\n");
    while (precision_data_next(rows, &run)) {
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
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
