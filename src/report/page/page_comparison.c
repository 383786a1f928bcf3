#include "report/page/page_comparison.h"

#include "base/json_text.h"
#include "bench/record/comparison.h"
#include "report/records/record_notes.h"

#include <math.h>

static json_t *phase_json(const char *label, const char *name, const ComparisonPhase *phase)
{
    return json_pack("{s:o, s:s, s:f, s:f, s:f, s:s}", "label", json_text_string(label), "phase",
                     name, "change", 100 * phase->change, "low", 100 * phase->low, "high",
                     100 * phase->high, "verdict", comparison_verdict_word(phase->verdict));
}

static bool has_interval(const ComparisonPhase *phase)
{
    return phase->present && isfinite(phase->change) && isfinite(phase->low) &&
           isfinite(phase->high);
}

static json_t *phases_json(const Comparison *comparison, const RecordSet *rows)
{
    json_t *list = json_array();
    CLEANUP(text_free) Text label = {0};
    const ColumnSet shown = result_input_distinct(rows);
    for (size_t i = 0; i < comparison->n_cells; i++) {
        const ComparisonCell *cell = &comparison->cells[i];
        text_clear(&label);
        record_notes_label(&label, &shown, cell->a);
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            if (has_interval(&cell->phases[k]))
                json_array_append_new(
                    list, phase_json(text_str(&label), comparison_phases[k], &cell->phases[k]));
        }
    }
    return list;
}

static Status add_pair(json_t *list, const ResultInput *a, const ResultInput *b)
{
    CLEANUP(comparison_free) Comparison comparison = {0};
    TRY(comparison_make(&comparison, &a->rows, &b->rows));
    json_t *json = json_pack("{s:o, s:o, s:o}", "a", json_text_string(result_input_name(a)), "b",
                             json_text_string(result_input_name(b)), "phases",
                             phases_json(&comparison, &a->rows));
    return json_array_append_new(list, json) ? NO_MEMORY("for the data of a page") : ST_OK;
}

Status page_comparison_json(json_t **out, const ResultInput *files, int n)
{
    CLEANUP(json_text_free) json_t *list = json_array();
    for (int f = 1; f < n; f++) {
        const ResultInput *before = result_input_before(files, f);
        if (before) TRY(add_pair(list, before, &files[f]));
    }
    *out = json_incref(list);
    return list ? ST_OK : NO_MEMORY("for the data of a page");
}
