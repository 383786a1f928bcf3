#include "cli/live/live_judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- pairs ---- */

/* The statistic of the steps of one start; NAN: not measured. */
static double start_ms(const RecordSet *rows, size_t cell, int phase, Stat stat)
{
    static const char *const names[STAT_COUNT] = {
        [STAT_MEDIAN] = "median_ms", [STAT_MEAN] = "mean_ms", [STAT_MIN] = "min_ms"};
    char path[48];
    const Record *row = record_set_at(rows, cell);
    if (record_phase_status(row, comparison_phases[phase]) != RECORD_OK) return NAN;
    snprintf(path, sizeof path, "%s.%s", comparison_phases[phase], names[stat]);
    return record_real(row, path);
}

static Status make_cells(Live *live)
{
    int intervals = 0;
    const RecordSet *rows[LIVE_SIDES] = {&live->sides[0].rows, &live->sides[1].rows};
    live->n_cells = record_set_size(rows[LIVE_OLD]);
    live->cells = calloc(live->n_cells, sizeof *live->cells);
    if (!live->cells) return NO_MEMORY("for %zu cells", live->n_cells);
    for (size_t i = 0; i < live->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            bool there = live->task.wanted[k];
            for (int side = 0; side < LIVE_SIDES; side++)
                there = there && start_ms(rows[side], i, k, live->task.stat) > 0;
            live->cells[i].phases[k].there = there;
            intervals += there;
        }
    }
    if (intervals == 0) return FAIL(ST_USAGE, "--phase %s: no cell has it", live->task.phase_list);
    live->error = 0.05 / intervals;
    return ST_OK;
}

Status live_judge_add_pair(Live *live)
{
    const size_t n_old = record_set_size(&live->sides[LIVE_OLD].rows);
    const size_t n_new = record_set_size(&live->sides[LIVE_NEW].rows);
    if (n_old != n_new || (live->cells && n_old != live->n_cells))
        return FAIL(ST_USAGE, "OLD has %zu cells and NEW %zu: both must run the same cells", n_old,
                    n_new);
    if (!live->cells) TRY(make_cells(live));
    for (size_t i = 0; i < live->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            LivePhase *p = &live->cells[i].phases[k];
            for (int side = 0; side < LIVE_SIDES; side++)
                p->ms[side][live->pairs] = start_ms(&live->sides[side].rows, i, k, live->task.stat);
            p->d[live->pairs] = log(p->ms[LIVE_NEW][live->pairs] / p->ms[LIVE_OLD][live->pairs]);
            p->there = p->there && isfinite(p->d[live->pairs]);
        }
    }
    live->pairs++;
    return ST_OK;
}

/* ---- verdicts ---- */

/* A false alarm costs more than a late one: a change is told at a fifth of the error of an interval. */
static const double alarm_share = 0.2;

/* The test is asked directly where a verdict hangs on it; the interval is for people. */
static bool beyond(const Live *live, const LivePhase *p, double center, int sign)
{
    const double share = center == 0 ? alarm_share : 1;
    return paired_test_beyond(p->d, live->pairs, center, sign, share * live->error / 2);
}

static ComparisonVerdict verdict_of(const Live *live, const LivePhase *p)
{
    const double noticed = log1p(COMPARISON_NOTICED), margin = log1p(live->task.margin);
    if (p->interval.middle >= noticed && beyond(live, p, 0, 1)) return COMPARISON_SLOWER;
    if (p->interval.middle <= -noticed && beyond(live, p, 0, -1)) return COMPARISON_FASTER;
    return beyond(live, p, -margin, 1) && beyond(live, p, margin, -1) ? COMPARISON_SAME
                                                                      : COMPARISON_UNSURE;
}

static void decide(const Live *live, LivePhase *p)
{
    const double limit = live->task.fail_above;
    p->interval = paired_test_interval(p->d, live->pairs, live->error);
    p->change = expm1(p->interval.middle);
    p->low = expm1(p->interval.low);
    p->high = expm1(p->interval.high);
    p->verdict = verdict_of(live, p);
    p->regression = p->verdict == COMPARISON_SLOWER && p->change > limit;
    /* Slower, but is it by more than is allowed? */
    const bool within = limit > 0 && beyond(live, p, log1p(limit), -1);
    p->sure =
        p->verdict == COMPARISON_SLOWER ? p->regression || within : p->verdict != COMPARISON_UNSURE;
}

void live_judge_decide(Live *live)
{
    for (size_t i = 0; i < live->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            LivePhase *p = &live->cells[i].phases[k];
            if (p->there) decide(live, p);
        }
    }
}

bool live_judge_is_sure(const Live *live)
{
    for (size_t i = 0; i < live->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            const LivePhase *p = &live->cells[i].phases[k];
            if (p->there && !p->sure) return false;
        }
    }
    return live->pairs > 0;
}

ComparisonVerdict live_judge_verdict(const Live *live)
{
    bool has[COMPARISON_UNSURE + 1] = {false}, regression = false;
    for (size_t i = 0; i < live->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            const LivePhase *p = &live->cells[i].phases[k];
            if (!p->there) continue;
            has[p->sure ? p->verdict : COMPARISON_UNSURE] = true;
            regression = regression || p->regression;
        }
    }
    if (regression) return COMPARISON_SLOWER;
    if (live->pairs == 0 || has[COMPARISON_UNSURE]) return COMPARISON_UNSURE;
    return has[COMPARISON_SLOWER]   ? COMPARISON_SLOWER
           : has[COMPARISON_FASTER] ? COMPARISON_FASTER
                                    : COMPARISON_SAME;
}

bool live_judge_worst(const Live *live, size_t *cell, int *phase)
{
    double most = -INFINITY;
    for (size_t i = 0; i < live->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            const LivePhase *p = &live->cells[i].phases[k];
            const bool slower = p->verdict == COMPARISON_SLOWER;
            if (!p->there || (!slower && p->verdict != COMPARISON_FASTER)) continue;
            const double rank =
                slower ? p->change : -1 / fabs(p->change); /* any slower one first */
            if (rank <= most) continue;
            most = rank;
            *cell = i;
            *phase = k;
        }
    }
    return most > -INFINITY;
}
