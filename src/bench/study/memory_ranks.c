#include "bench/study/memory_ranks.h"

#include "base/array.h"
#include "base/json_text.h"
#include "bench/cell/cell_ranks.h"

#include <math.h>
#include <stdlib.h>

static const double mib = 1024.0 * 1024.0;

/* What is held of a region; NAN where a device does not tell of a part of its memory. */
static Status held(const Session *s, void *memory, size_t bytes, double *out)
{
    size_t touched = 0;
    if (!s->api->touched) *out = NAN;
    if (!s->api->touched || !memory) return ST_OK;
    TRY(s->api->touched(s->backend, memory, bytes, &touched));
    *out += (double)touched / mib;
    return ST_OK;
}

static Status hold_kind(const MemoryRanksWatch *w, TensorKind kind, double *out)
{
    const Session *s = w->cell->session;
    return held(s, s->region[kind], s->binding->mem.region[kind], out);
}

static Status hold(MemoryRanksWatch *w, MemoryRankMoment moment)
{
    const Session *s = w->cell->session;
    const MemPlan *mem = &s->binding->mem;
    double all = 0, parameters = 0, moments = 0;
    for (int k = 0; k < TK_COUNT; k++) TRY(hold_kind(w, (TensorKind)k, &all));
    TRY(held(s, s->arena, session_own_arena(s), &all));
    TRY(held(s, s->common, mem->arena - mem->common, &all));
    TRY(hold_kind(w, TK_PARAM, &parameters));
    TRY(hold_kind(w, TK_WEIGHT_COPY, &parameters));
    TRY(hold_kind(w, TK_MOMENT, &moments));
    double *mib_of = w->rank.mib[moment];
    mib_of[MEMORY_RANK_measured] = all;
    mib_of[MEMORY_RANK_measured_parameters] = parameters;
    mib_of[MEMORY_RANK_measured_moments] = moments;
    mib_of[MEMORY_RANK_measured_rest] = all - parameters - moments;
    return ST_OK;
}

Status memory_ranks_begin(MemoryRanksWatch *w, const CellOpen *cell)
{
    CLEANUP(memory_profile_free) MemoryProfile profile = {0};
    int end = 0;
    *w = (MemoryRanksWatch){.cell = cell};
    plan_phase_nodes(cell->session->plan, PHASE_OPTIMIZER, &w->optimizer, &end);
    if (w->optimizer == end) w->optimizer = PLAN_NONE;
    TRY(memory_profile_make(&profile, &cell->fit->model, &cell->fit->binding));
    TRY(memory_rank_plan(&w->rank, &profile));
    return hold(w, MEMORY_RANK_INITIAL);
}

Status memory_ranks_node(MemoryRanksWatch *w, int node)
{
    if (w->stepped || node != w->optimizer) return ST_OK;
    return hold(w, MEMORY_RANK_BEFORE);
}

Status memory_ranks_stepped(MemoryRanksWatch *w)
{
    if (w->stepped) return ST_OK;
    w->stepped = true;
    TRY(hold(w, MEMORY_RANK_PEAK));
    return w->optimizer == PLAN_NONE ? ST_OK : hold(w, MEMORY_RANK_AFTER);
}

enum { FIGURES = MEMORY_RANK_MOMENTS * MEMORY_RANK_FIGURES };

/* MPI has no order for NAN, which travels as -1. */
static json_t *ranks_json(const double *of_ranks, int n)
{
    json_t *list = json_array();
    for (int r = 0; r < n; r++) {
        MemoryRank rank;
        for (int f = 0; f < FIGURES; f++) {
            const double figure = of_ranks[f * n + r];
            rank.mib[f / MEMORY_RANK_FIGURES][f % MEMORY_RANK_FIGURES] = figure < 0 ? NAN : figure;
        }
        json_t *item = memory_rank_json(&rank);
        json_object_set_new(item, "rank", json_integer(r));
        json_array_append_new(list, item);
    }
    return list;
}

Status memory_ranks_tell(const MemoryRanksWatch *w)
{
    Comm *comm = w->cell->session->comm;
    const int n = comm_ranks(comm);
    CLEANUP(array_free) double *of_ranks = malloc(FIGURES * (size_t)n * sizeof *of_ranks);
    if (!of_ranks) return NO_MEMORY("for figures of %d ranks", n);
    for (int f = 0; f < FIGURES; f++) {
        const double own = w->rank.mib[f / MEMORY_RANK_FIGURES][f % MEMORY_RANK_FIGURES];
        TRY(cell_ranks_gather(comm, isnan(own) ? -1 : own, of_ranks + (ptrdiff_t)f * n));
    }
    CLEANUP(json_text_free)
    json_t *facts = json_pack("{s:o}", "memory_ranks", ranks_json(of_ranks, n));
    if (!facts) return NO_MEMORY("for figures of %d ranks", n);
    return cell_link_facts(w->cell->link, facts);
}
