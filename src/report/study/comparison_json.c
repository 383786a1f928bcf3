#include "report/study/comparison_json.h"

#include "base/json_text.h"
#include "bench/record/comparison_gate.h"
#include "bench/record/op_change.h"
#include "report/format/csv_writer.h"

#include <math.h>

static json_t *status_json(RecordStatus status)
{
    return status == RECORD_STATUS_COUNT ? json_null() : json_string(record_status_word(status));
}

static json_t *phase_json(const ComparisonPhase *p)
{
    const char *verdict = comparison_verdict_word(p->verdict);
    return json_pack(
        "{s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?}", "status_a",
        status_json(p->status_a), "status_b", status_json(p->status_b), "samples_a", p->n_a,
        "samples_b", p->n_b, "median_a_ms", json_text_real(p->median_a), "median_b_ms",
        json_text_real(p->median_b), "change_percent", json_text_real(100 * p->change),
        "ci95_low_percent", json_text_real(100 * p->low), "ci95_high_percent",
        json_text_real(100 * p->high), "p", json_text_real(p->p), "test",
        p->p >= 0 ? (p->exact ? "exact" : "normal") : NULL, "verdict", *verdict ? verdict : NULL);
}

static const char *cell_of(const Record *record)
{
    return record_key(record) ? record_key(record) : "";
}

/* jansson refuses NULL as a value: what could not be allocated is missing, and `failed` counts it. */
static json_t *cells_json(const Comparison *c, int *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_cells; i++) {
        json_t *cell = json_pack("{s:s}", "cell", cell_of(c->cells[i].a));
        *failed += json_array_append_new(list, cell) != 0;
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            const ComparisonPhase *phase = &c->cells[i].phases[k];
            if (phase->present)
                *failed += json_object_set_new(cell, comparison_phases[k], phase_json(phase)) != 0;
        }
    }
    return list;
}

static json_t *only_json(const Record **records, size_t n, int *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        *failed += json_array_append_new(list, json_string(cell_of(records[i]))) != 0;
    return list;
}

static json_t *means_json(const Comparison *c, int *failed)
{
    json_t *means = json_object();
    for (int k = 0; k < COMPARISON_PHASES; k++) {
        if (c->n_ratios[k] == 0) continue;
        json_t *mean = json_pack("{s:o, s:i}", "ratio", json_text_real(c->mean_ratio[k]), "cells",
                                 c->n_ratios[k]);
        *failed += json_object_set_new(means, comparison_phases[k], mean) != 0;
    }
    return means;
}

static json_t *op_json(const Record *a, const Record *b)
{
    OpChange op;
    if (!op_change_largest(&op, a, b, 1)) return json_null();
    return json_pack("{s:o, s:o, s:o}", "op", json_text_string(op.name), "before_ms",
                     json_text_real(op.before / 1e6), "after_ms", json_text_real(op.after / 1e6));
}

/* What became slower by most; null: nothing did. */
static json_t *worst_json(const Comparison *c)
{
    const ComparisonGate gate = comparison_gate_make(c, INFINITY);
    if (!gate.worst) return json_null();
    return json_pack("{s:s, s:s, s:o, s:o}", "cell", cell_of(gate.worst->a), "phase",
                     comparison_phases[gate.worst_phase], "change_percent",
                     json_text_real(100 * gate.worst->phases[gate.worst_phase].change), "op",
                     op_json(gate.worst->a, gate.worst->b));
}

static Status make_json(json_t **root, const ComparisonReport *report)
{
    const Comparison *c = report->comparison;
    int failed = 0;
    *root = json_pack("{s:i, s:o, s:o, s:O, s:O, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "a",
                      json_text_string(report->path_a), "b", json_text_string(report->path_b),
                      "differences", c->differences, "warnings", c->warnings, "cells",
                      cells_json(c, &failed), "only_a", only_json(c->only_a, c->n_only_a, &failed),
                      "only_b", only_json(c->only_b, c->n_only_b, &failed), "geometric_mean",
                      means_json(c, &failed), "worst", worst_json(c));
    return *root && !failed ? ST_OK : NO_MEMORY("for a comparison");
}

/* ---- csv ---- */

/* As phase_json() has them. */
static const char csv_heading[] =
    "cell,phase,status_a,status_b,samples_a,samples_b,median_a_ms,median_b_ms,change_percent,"
    "ci95_low_percent,ci95_high_percent,p,test,verdict\n";

static void put_csv_row(Text *out, const json_t *cell, const char *phase)
{
    const char *name;
    const json_t *field;
    json_t *fields = json_object_get(cell, phase);
    if (!fields) return;
    csv_writer_value(out, json_object_get(cell, "cell"));
    text_printf(out, ",%s", phase);
    json_object_foreach(fields, name, field)
    {
        text_puts(out, ",");
        if (json_is_real(field))
            text_printf(out, "%.8g", json_real_value(field));
        else
            csv_writer_value(out, field);
    }
    text_puts(out, "\n");
}

/* The verdict is the last field. */
static void put_only(Text *out, const json_t *cells, const char *verdict)
{
    for (size_t i = 0; i < json_array_size(cells); i++) {
        csv_writer_value(out, json_array_get(cells, i));
        text_printf(out, ",,,,,,,,,,,,,%s\n", verdict);
    }
}

static void put_csv(Text *out, const json_t *root)
{
    const json_t *cells = json_object_get(root, "cells");
    text_puts(out, csv_heading);
    for (size_t i = 0; i < json_array_size(cells); i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++)
            put_csv_row(out, json_array_get(cells, i), comparison_phases[k]);
    }
    put_only(out, json_object_get(root, "only_a"), "only in A");
    put_only(out, json_object_get(root, "only_b"), "only in B");
}

Status comparison_json_write(Text *out, const ComparisonReport *report)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    TRY(make_json(&root, report));
    json_text_put(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
    text_puts(out, "\n");
    return text_status(out);
}

Status comparison_json_csv(Text *out, const ComparisonReport *report)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    TRY(make_json(&root, report));
    put_csv(out, root);
    return text_status(out);
}
