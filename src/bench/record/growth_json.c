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

static Status put_fit(json_t *json, const GrowthLaw *law)
{
    const GrowthFit *fit = &law->fit;
    const bool claimed = fit->verdict == GROWTH_LAW;
    const bool time = law->figure->kind == GROWTH_TIME;
    if (!claimed) {
        TRY(record_put_null(json, "exponent"));
        return ST_OK;
    }
    TRY(record_put_number(json, "exponent", fit->exponent));
    TRY(record_put_number(json, "exponent_low", fit->low));
    TRY(record_put_number(json, "exponent_high", fit->high));
    TRY(record_put_number(json, "from", fit->begins));
    TRY(record_put_number(json, time ? "floor_ms" : "floor_mib", fit->floor_seen ? fit->floor : 0));
    return record_put_number(json, "scatter_percent", 100 * fit->scatter);
}

static Status put_terms(json_t *json, const GrowthTerms *terms)
{
    json_t *list = json_array();
    int failed = json_object_set_new(json, "terms_mib", list);
    for (int d = 0; d <= terms->degree; d++)
        failed |= json_array_append_new(list, json_real(terms->term[d]));
    if (failed) return NO_MEMORY("for how results grow");
    TRY(record_put_int(json, "exponent", terms->degree));
    TRY(record_put_int(json, "checked_points", terms->points - terms->degree - 1));
    TRY(record_put_number(json, "from", terms->from));
    return record_put_number(json, "to", terms->to);
}

static Status put_why(json_t *json, const GrowthSweep *sweep, const GrowthFit *fit)
{
    CLEANUP(text_free) Text why = {0};
    growth_why(&why, sweep->axis, fit);
    TRY(text_status(&why));
    if (why.n) TRY(record_put_text(json, "why", text_str(&why)));
    return ST_OK;
}

static Status add_law(json_t *list, const GrowthSweep *sweep, const GrowthLaw *law)
{
    json_t *json = json_object();
    if (json_array_append_new(list, json)) return NO_MEMORY("for how results grow");
    TRY(record_put_text(json, "axis", sweep->axis->field));
    TRY(record_put_text(json, "figure", law->figure->name));
    if (json_object_set_new(json, "where", growth_json_where(sweep)))
        return NO_MEMORY("for how results grow");
    TRY(record_put_int(json, "points", law->points));
    TRY(record_put_number(json, "least", law->least));
    TRY(record_put_number(json, "most", law->most));
    if (law->terms.degree >= 0) return put_terms(json, &law->terms);
    TRY(put_fit(json, law));
    return put_why(json, sweep, &law->fit);
}

static Status add_laws(json_t *list, const Growth *growth)
{
    for (int s = 0; s < growth->n; s++) {
        const GrowthSweep *sweep = &growth->sweeps[s];
        for (int i = 0; i < sweep->n_laws; i++) TRY(add_law(list, sweep, &sweep->laws[i]));
    }
    return ST_OK;
}

Status growth_json(json_t **out, const RecordSet *set)
{
    CLEANUP(growth_free) Growth growth = {0};
    if (!(*out = json_array())) return NO_MEMORY("for how results grow");
    TRY(growth_make(&growth, set));
    return add_laws(*out, &growth);
}
