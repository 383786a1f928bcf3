#include "base/json_text.h"
#include "bench/record/growth.h"
#include "config/cell_field.h"

json_t *growth_json_where(const GrowthSweep *sweep)
{
    json_t *object = json_object();
    for (int id = 0; id <= CELL_FIELD_COUNT; id++) {
        const bool last = id == CELL_FIELD_COUNT;
        const char *name = last ? "environment_id" : cell_field_table[id].name;
        if (!last && !cell_field_is_work(id)) continue;
        json_t *value = record_value(sweep->first, name);
        if (value && growth_is_fixed(sweep->axis, name)) json_object_set(object, name, value);
    }
    return object;
}

static json_t *fit_json(const GrowthSweep *sweep, const GrowthLaw *law)
{
    const GrowthFit *fit = &law->fit;
    CLEANUP(text_free) Text why = {0};
    growth_why(&why, sweep->axis, fit);
    if (why.failed) return NULL;
    if (fit->verdict != GROWTH_LAW)
        return json_pack("{s:n, s:s}", "exponent", "why", text_str(&why));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "exponent", json_text_real(fit->exponent),
                     "exponent_low", json_text_real(fit->low), "exponent_high",
                     json_text_real(fit->high), "from", json_text_real(fit->begins),
                     law->figure->kind == GROWTH_TIME ? "floor_ms" : "floor_mib",
                     json_text_real(fit->floor_seen ? fit->floor : 0), "scatter_percent",
                     json_text_real(100 * fit->scatter));
}

static json_t *terms_json(const GrowthTerms *terms)
{
    return json_pack("{s:o, s:i, s:i, s:o, s:o}", "terms_mib",
                     json_text_reals(terms->term, terms->degree + 1, 1), "exponent", terms->degree,
                     "checked_points", terms->points - terms->degree - 1, "from",
                     json_text_real(terms->from), "to", json_text_real(terms->to));
}

static Status add_law(json_t *list, const GrowthSweep *sweep, const GrowthLaw *law)
{
    CLEANUP(json_text_free)
    json_t *json =
        json_pack("{s:s, s:s, s:o, s:i, s:o, s:o}", "axis", sweep->axis, "figure",
                  law->figure->name, "where", growth_json_where(sweep), "points", law->points,
                  "least", json_text_real(law->least), "most", json_text_real(law->most));
    CLEANUP(json_text_free)
    json_t *more = law->terms.degree >= 0 ? terms_json(&law->terms) : fit_json(sweep, law);
    return json_object_update(json, more) || json_array_append(list, json)
               ? NO_MEMORY("for how results grow")
               : ST_OK;
}

Status growth_json(json_t **out, const RecordSet *set)
{
    CLEANUP(growth_free) Growth growth = {0};
    if (!(*out = json_array())) return NO_MEMORY("for how results grow");
    TRY(growth_make(&growth, set));
    for (int s = 0; s < growth.n; s++) {
        const GrowthSweep *sweep = &growth.sweeps[s];
        for (int i = 0; i < sweep->n_laws; i++) TRY(add_law(*out, sweep, &sweep->laws[i]));
    }
    return ST_OK;
}
