#include "report/study/comparison_data.h"

#include "base/json_text.h"
#include "report/format/csv_writer.h"
#include "report/format/flat_row.h"

#include <stdlib.h>

/* ---- one phase as an object ---- */

static const char *status_word(RecordStatus status)
{
    return status == RECORD_STATUS_COUNT ? NULL : record_status_word(status);
}

static Status put_text(json_t *json, const char *name, const char *text)
{
    return text && *text ? record_put_text(json, name, text) : record_put_null(json, name);
}

static Status fill_phase(json_t *json, const ComparisonPhase *p)
{
    TRY(put_text(json, "status_a", status_word(p->status_a)));
    TRY(put_text(json, "status_b", status_word(p->status_b)));
    TRY(record_put_int(json, "samples_a", p->n_a));
    TRY(record_put_int(json, "samples_b", p->n_b));
    TRY(record_put_number(json, "median_a_ms", p->median_a));
    TRY(record_put_number(json, "median_b_ms", p->median_b));
    TRY(record_put_number(json, "change_percent", 100 * p->change));
    TRY(record_put_number(json, "ci95_low_percent", 100 * p->low));
    TRY(record_put_number(json, "ci95_high_percent", 100 * p->high));
    TRY(record_put_number(json, "p", p->p));
    TRY(put_text(json, "test", p->p >= 0 ? (p->exact ? "exact" : "normal") : NULL));
    return put_text(json, "verdict", comparison_verdict_word(p->verdict));
}

static const char *cell_of(const Record *record)
{
    return record_key(record) ? record_key(record) : "";
}

/* ---- json ---- */

static Status fill_cell(json_t *json, const ComparisonCell *cell)
{
    TRY(record_put_text(json, "cell", cell_of(cell->a)));
    for (int i = 0; i < COMPARISON_PHASES; i++) {
        json_t *phase;
        if (!cell->phases[i].present) continue;
        phase = json_object();
        if (json_object_set_new(json, comparison_phases[i], phase))
            return NO_MEMORY("for a comparison");
        TRY(fill_phase(phase, &cell->phases[i]));
    }
    return ST_OK;
}

static Status fill_cells(json_t *root, const Comparison *c)
{
    json_t *list = json_array();
    if (json_object_set_new(root, "cells", list)) return NO_MEMORY("for a comparison");
    for (size_t i = 0; i < c->n_cells; i++) {
        json_t *cell = json_object();
        if (json_array_append_new(list, cell)) return NO_MEMORY("for a comparison");
        TRY(fill_cell(cell, &c->cells[i]));
    }
    return ST_OK;
}

static Status fill_only(json_t *root, const char *name, const Record **records, size_t n)
{
    json_t *list = json_array();
    if (json_object_set_new(root, name, list)) return NO_MEMORY("for a comparison");
    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(list, json_string(cell_of(records[i]))))
            return NO_MEMORY("for a comparison");
    }
    return ST_OK;
}

static Status fill_means(json_t *root, const Comparison *c)
{
    json_t *means = json_object();
    if (json_object_set_new(root, "geometric_mean", means)) return NO_MEMORY("for a comparison");
    for (int i = 0; i < COMPARISON_PHASES; i++) {
        json_t *mean;
        if (c->n_ratios[i] == 0) continue;
        mean = json_object();
        if (json_object_set_new(means, comparison_phases[i], mean))
            return NO_MEMORY("for a comparison");
        TRY(record_put_number(mean, "ratio", c->mean_ratio[i]));
        TRY(record_put_int(mean, "cells", c->n_ratios[i]));
    }
    return ST_OK;
}

static Status fill_root(json_t *root, const ComparisonReport *report)
{
    const Comparison *c = report->comparison;
    TRY(record_put_int(root, "schema", 1));
    TRY(record_put_text(root, "a", report->path_a));
    TRY(record_put_text(root, "b", report->path_b));
    if (json_object_set(root, "differences", c->differences)) return NO_MEMORY("for a comparison");
    if (json_object_set(root, "warnings", c->warnings)) return NO_MEMORY("for a comparison");
    TRY(fill_cells(root, c));
    TRY(fill_only(root, "only_a", c->only_a, c->n_only_a));
    TRY(fill_only(root, "only_b", c->only_b, c->n_only_b));
    return fill_means(root, c);
}

Status comparison_data_json(Text *out, const ComparisonReport *report)
{
    json_t *root = json_object();
    if (!root) return NO_MEMORY("for a comparison");
    const Status status = fill_root(root, report);
    char *dump =
        status == ST_OK ? json_text_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(8)) : NULL;
    json_decref(root);
    TRY(status);
    if (!dump) return NO_MEMORY("for a comparison");
    text_printf(out, "%s\n", dump);
    free(dump);
    return text_status(out);
}

/* ---- csv ---- */

static const char *const csv_fields[] = {
    "status_a",          "status_b",    "samples_a",      "samples_b",
    "median_a_ms",       "median_b_ms", "change_percent", "ci95_low_percent",
    "ci95_high_percent", "p",           "test",           "verdict"};
enum { CSV_FIELDS = sizeof csv_fields / sizeof *csv_fields };

static void put_row(Text *out, const char *cell, const char *phase, const json_t *fields)
{
    Text value = {0};
    csv_writer_field(out, cell);
    text_printf(out, ",%s", phase);
    for (int i = 0; i < CSV_FIELDS; i++) {
        const json_t *field = json_object_get(fields, csv_fields[i]);
        text_clear(&value);
        if (json_is_real(field))
            text_printf(&value, "%.8g", json_real_value(field));
        else if (field && !json_is_null(field))
            flat_row_put(&value, field);
        text_puts(out, ",");
        csv_writer_field(out, text_str(&value));
    }
    text_puts(out, "\n");
    out->failed = out->failed || value.failed;
    text_free(&value);
}

static Status put_cell(Text *out, const ComparisonCell *cell)
{
    for (int i = 0; i < COMPARISON_PHASES; i++) {
        if (!cell->phases[i].present) continue;
        json_t *fields = json_object();
        const Status status =
            fields ? fill_phase(fields, &cell->phases[i]) : NO_MEMORY("for a comparison");
        if (status == ST_OK) put_row(out, cell_of(cell->a), comparison_phases[i], fields);
        json_decref(fields);
        TRY(status);
    }
    return ST_OK;
}

static Status put_only(Text *out, const Record **records, size_t n, const char *verdict)
{
    for (size_t i = 0; i < n; i++) {
        json_t *fields = json_pack("{s:s}", "verdict", verdict);
        if (!fields) return NO_MEMORY("for a comparison");
        put_row(out, cell_of(records[i]), "", fields);
        json_decref(fields);
    }
    return ST_OK;
}

Status comparison_data_csv(Text *out, const ComparisonReport *report)
{
    const Comparison *c = report->comparison;
    text_puts(out, "cell,phase");
    for (int i = 0; i < CSV_FIELDS; i++) text_printf(out, ",%s", csv_fields[i]);
    text_puts(out, "\n");
    for (size_t i = 0; i < c->n_cells; i++) TRY(put_cell(out, &c->cells[i]));
    TRY(put_only(out, c->only_a, c->n_only_a, "only in A"));
    TRY(put_only(out, c->only_b, c->n_only_b, "only in B"));
    return text_status(out);
}
