#include "cli/live/live_run.h"

#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/rng.h"
#include "bench/measure/interrupt.h"
#include "cli/live/live_conditions.h"
#include "cli/live/live_judge.h"
#include "cli/live/live_start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Status start_side(Live *live, int side)
{
    RecordSet rows;
    LiveSide *of = &live->sides[side];
    TRY(live_start_run(of, live_side_names[side], false, &rows));
    record_set_free(&of->rows);
    of->rows = rows;
    live_conditions_take(of);
    return ST_OK;
}

static Status run_pair(Live *live, uint64_t seed)
{
    const int first = (int)rng_below(seed, 0, (uint64_t)live->pairs, LIVE_SIDES);
    TRY(start_side(live, first));
    TRY(start_side(live, 1 - first));
    TRY(live_judge_add_pair(live));
    live_judge_decide(live);
    return ST_OK;
}

/* A line now and then: what is unsure by most. */
static void tell(const Live *live, double *told)
{
    const double every = isatty(STDERR_FILENO) ? 2 : 20, now = clock_seconds();
    const LivePhase *shown = NULL;
    if (now - *told < every) return;
    *told = now;
    for (size_t i = 0; i < live->n_cells && !shown; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            const LivePhase *p = &live->cells[i].phases[k];
            if (p->there && !p->sure) shown = p;
        }
    }
    if (!shown) return;
    if (isinf(shown->interval.low) || isinf(shown->interval.high))
        log_note("%d %s, %.0f s: not enough yet", live->pairs, live->pairs == 1 ? "pair" : "pairs",
                 live->seconds);
    else
        log_note("%d pairs, %.0f s: %+.1f %% (%+.1f .. %+.1f %%), unsure", live->pairs,
                 live->seconds, 100 * shown->change, 100 * shown->low, 100 * shown->high);
}

static Status run_pairs(Live *live)
{
    const uint64_t seed = (uint64_t)clock_epoch_nanoseconds() ^ (uint64_t)getpid() << 32;
    const double began = clock_seconds();
    double told = began;
    while (!live_judge_is_sure(live) && live->pairs < PAIRED_TEST_MOST) {
        /* A pair takes as long as those before it did. */
        const double pair = live->pairs > 0 ? live->seconds / live->pairs : 0;
        if (live->pairs > 0 && live->seconds + pair > live->task.budget) break;
        TRY(run_pair(live, seed));
        live->seconds = clock_seconds() - began;
        tell(live, &told);
    }
    return ST_OK;
}

/* ---- which op it was ---- */

enum { PROFILES = 2 }; /* of each side, in turn; of each the one with the fastest step counts */

/* Keeps the row if its step is faster than that of the one before. */
static void keep_faster(Record **kept, const RecordSet *rows, size_t cell)
{
    Record *row = cell < record_set_size(rows) ? record_set_at(rows, cell) : NULL;
    double before = INFINITY, now = INFINITY;
    if (!row || !record_value(row, "profile")) return;
    if (*kept) record_number(*kept, "step.min_ms", &before);
    record_number(row, "step.min_ms", &now);
    if (*kept && now >= before) return;
    json_decref(*kept);
    *kept = json_incref(row);
}

static Status profile_side(Live *live, int side, size_t cell)
{
    RecordSet rows;
    TRY(live_start_run(&live->sides[side], live_side_names[side], true, &rows));
    keep_faster(&live->profile[side], &rows, cell);
    record_set_free(&rows);
    return ST_OK;
}

static Status profile_both(Live *live)
{
    size_t cell;
    int phase;
    if (!live_judge_worst(live, &cell, &phase)) return ST_OK;
    log_note("profiling both for the op that changed most");
    for (int i = 0; i < PROFILES; i++) {
        for (int side = 0; side < LIVE_SIDES; side++) TRY(profile_side(live, side, cell));
    }
    return ST_OK;
}

Status live_run(Live *live)
{
    interrupt_begin();
    Status status = run_pairs(live);
    if (status == ST_OK && profile_both(live) != ST_OK)
        snprintf(live->no_profile, sizeof live->no_profile, "%s", status_message());
    live->signal = interrupt_signal();
    interrupt_end();
    if (status == ST_INTERRUPTED && live->signal && live->pairs > 0) status = ST_OK;
    return status;
}

void live_run_free(Live *live)
{
    for (int side = 0; side < LIVE_SIDES; side++) {
        live_start_free(&live->sides[side]);
        json_decref(live->profile[side]);
    }
    free(live->cells);
}
