#include "bench/cell/supported.h"

#include "bench/limits/placement.h"

#include <stdio.h>

Status supported_none(int n, const char *why)
{
    if (n == 1) return FAIL(ST_UNSUPPORTED, "%s", why);
    return FAIL(ST_UNSUPPORTED, "none of the %d cells is supported; the first: %s", n, why);
}

/* Whether it fits in memory is another question: with everything recomputed the ops are the same. */
static Status check(const Config *config)
{
    Placement place;
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    Config c = *config;
    if (c.subject == SUBJECT_COLLECTIVE) return ST_OK; /* it has no plan */
    if (c.recompute == CONFIG_RECOMPUTE_AUTO) c.recompute = CONFIG_RECOMPUTE_BLOCK;
    TRY(placement_find(&c, &place));
    if (c.fp8_layers == CONFIG_LINEARS_AUTO) c.fp8_layers = CONFIG_LINEARS_ALL;
    return placement_plan(&place, &c, c.mode, &model, &binding);
}

static bool is_kept(const RecordSet *resumed, const Config *config)
{
    const Record *record = resumed ? record_set_find_config(resumed, config) : NULL;
    return record && cell_record_is_final(record);
}

/* Most sweeps are through with their first cell. What else is wrong with a cell is for its row to say. */
Status supported_any(const RunnerTask *task)
{
    char first[512] = "";
    for (int i = 0; i < task->n; i++) {
        if (is_kept(task->resumed, &task->configs[i])) return ST_OK;
        if (check(&task->configs[i]) != ST_UNSUPPORTED) return ST_OK;
        if (i == 0) snprintf(first, sizeof first, "%s", status_message());
    }
    return supported_none(task->n, first);
}

Status supported_rows(const RecordSet *rows)
{
    const size_t n = record_set_size(rows);
    for (size_t i = 0; i < n; i++) {
        if (record_status(record_set_at(rows, i)) != RECORD_UNSUPPORTED) return ST_OK;
    }
    if (n == 0) return ST_OK;
    const char *why = record_text(record_set_at(rows, 0), "message");
    return supported_none((int)n, why ? why : "unsupported");
}
