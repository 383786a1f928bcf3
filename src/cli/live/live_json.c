#include "cli/live/live_json.h"

#include "base/json_text.h"
#include "base/stats.h"
#include "bench/record/op_change.h"
#include "cli/live/live_conditions.h"
#include "cli/live/live_judge.h"
#include "cli/output.h"
#include "report/format/csv_writer.h"

#include <math.h>

static json_t *side_json(const LiveSide *side, int *failed)
{
    json_t *object =
        json_pack("{s:o, s:i}", "command", json_text_string(side->command), "starts", side->starts);
    for (int k = 0; k < LIVE_CONDITIONS; k++) {
        const double x = live_conditions_median(side, (LiveCondition)k);
        *failed += json_object_set_new(object, live_conditions_name((LiveCondition)k),
                                       json_text_real(x)) != 0;
    }
    return object;
}

static json_t *phase_json(const LivePhase *p, int pairs)
{
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "pairs", pairs, "old_ms",
                     json_text_real(stats_median(p->ms[LIVE_OLD], pairs)), "new_ms",
                     json_text_real(stats_median(p->ms[LIVE_NEW], pairs)), "change_percent",
                     json_text_real(100 * p->change), "ci95_low_percent",
                     json_text_real(100 * p->low), "ci95_high_percent",
                     json_text_real(100 * p->high), "verdict", comparison_verdict_word(p->verdict),
                     "regression", json_boolean(p->regression), "old_starts_ms",
                     json_text_reals(p->ms[LIVE_OLD], pairs, 1), "new_starts_ms",
                     json_text_reals(p->ms[LIVE_NEW], pairs, 1));
}

static json_t *key_json(const Live *live, int side, size_t cell)
{
    const char *key = record_key(record_set_at(&live->sides[side].rows, cell));
    return key ? json_string(key) : json_null();
}

/* jansson refuses NULL as a value: what could not be allocated is missing, and `failed` counts it. */
static json_t *cells_json(const Live *live, int *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < live->n_cells; i++) {
        json_t *cell = json_pack("{s:o, s:o}", "cell", key_json(live, LIVE_OLD, i), "new_cell",
                                 key_json(live, LIVE_NEW, i));
        *failed += json_array_append_new(list, cell) != 0;
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            const LivePhase *p = &live->cells[i].phases[k];
            if (p->there)
                *failed += json_object_set_new(cell, comparison_phases[k],
                                               phase_json(p, live->pairs)) != 0;
        }
    }
    return list;
}

static json_t *op_json(const Live *live)
{
    OpChange op;
    size_t cell;
    int phase;
    if (!live_judge_worst(live, &cell, &phase)) return json_null();
    const bool slower = live->cells[cell].phases[phase].verdict == COMPARISON_SLOWER;
    if (!live->profile[LIVE_OLD] || !live->profile[LIVE_NEW] ||
        !op_change_largest(&op, live->profile[LIVE_OLD], live->profile[LIVE_NEW], slower ? 1 : -1))
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "op", json_text_string(op.name), "old_ms",
                     json_text_real(op.before / 1e6), "new_ms", json_text_real(op.after / 1e6));
}

static Status make(json_t **root, const Live *live)
{
    int failed = 0;
    CLEANUP(comparison_free) Comparison c = {0};
    TRY(comparison_make(&c, &live->sides[LIVE_OLD].rows, &live->sides[LIVE_NEW].rows));
    *root =
        json_pack("{s:i, s:s, s:i, s:f, s:f, s:f, s:s, s:o, s:o, s:O, s:o, s:o}", "schema", 1,
                  "verdict", comparison_verdict_word(live_judge_verdict(live)), "pairs",
                  live->pairs, "seconds", live->seconds, "margin_percent", 100 * live->task.margin,
                  "fail_above_percent", 100 * live->task.fail_above, "stat",
                  config_stats[live->task.stat], "old", side_json(&live->sides[LIVE_OLD], &failed),
                  "new", side_json(&live->sides[LIVE_NEW], &failed), "differences", c.differences,
                  "cells", cells_json(live, &failed), "op", op_json(live));
    return *root && !failed ? ST_OK : NO_MEMORY("for a comparison");
}

Status live_json_write(Text *out, const Live *live)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    TRY(make(&root, live));
    return output_json(out, root);
}

static void put_number(Text *out, double x)
{
    if (isfinite(x))
        text_printf(out, ",%.8g", x);
    else
        text_puts(out, ",");
}

static Status put_row(Text *out, const Live *live, size_t cell, int phase)
{
    const LivePhase *p = &live->cells[cell].phases[phase];
    CLEANUP(json_text_free) json_t *key = key_json(live, LIVE_OLD, cell);
    if (!key) return NO_MEMORY("for a comparison");
    csv_writer_value(out, key);
    text_printf(out, ",%s,%d", comparison_phases[phase], live->pairs);
    put_number(out, stats_median(p->ms[LIVE_OLD], live->pairs));
    put_number(out, stats_median(p->ms[LIVE_NEW], live->pairs));
    put_number(out, 100 * p->change);
    put_number(out, 100 * p->low);
    put_number(out, 100 * p->high);
    text_printf(out, ",%s\n", comparison_verdict_word(p->verdict));
    return ST_OK;
}

Status live_json_csv(Text *out, const Live *live)
{
    text_puts(out, "cell,phase,pairs,old_ms,new_ms,change_percent,ci95_low_percent,"
                   "ci95_high_percent,verdict\n");
    for (size_t i = 0; i < live->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            if (live->cells[i].phases[k].there) TRY(put_row(out, live, i, k));
        }
    }
    return text_status(out);
}
