#include "cli/plan/plan_conclusion.h"

#include "base/human.h"
#include "bench/record/cell_label.h"
#include "cli/plan/forecast_table.h"

/* ---- ranks ---- */

static double tokens_a_second(const PlanCell *cell)
{
    const Config *c = cell->config;
    const double step = cell->forecast.times.step;
    if (cell->unsupported || *cell->forecast.why || !(step > 0)) return 0;
    return (double)c->ranks * (double)c->accumulate * (double)c->batch * (double)c->ctx / step;
}

static bool put_forecast(Text *out, const PlanTables *tables)
{
    const PlanCell *best = NULL;
    for (int i = 0; i < tables->sweep->n; i++) {
        const PlanCell *cell = &tables->cells[i];
        if (tokens_a_second(cell) > (best ? tokens_a_second(best) : 0)) best = cell;
    }
    if (!best) return false;
    text_printf(out,
                "Most tokens a second by forecast: %s, %s tokens/s, a step in %s, efficiency "
                "%.1f %%.",
                cell_label(best->config, tables->sweep->varies).s,
                human_si(tokens_a_second(best)).s, human_seconds(best->forecast.times.step).s,
                100 * best->forecast.efficiency);
    return true;
}

/* ---- what fits ---- */

/* A cell in one of its limits. */
typedef struct Place {
    const PlanCell *cell; /* NULL: none */
    int limit;
} Place;

typedef struct Places {
    int all, fit;
    Place last, first_not; /* of those that fit the last, of the others the first */
} Places;

static Places count_places(const PlanTables *tables)
{
    Places p = {0};
    for (int i = 0; i < tables->sweep->n; i++) {
        const PlanCell *cell = &tables->cells[i];
        for (int k = 0; !cell->unsupported && k < cell->n_fits; k++) {
            p.all++;
            if (cell->fits[k].fits) p.fit++, p.last = (Place){cell, k};
            if (!cell->fits[k].fits && !p.first_not.cell) p.first_not = (Place){cell, k};
        }
    }
    return p;
}

static void put_fits(Text *out, const PlanTables *tables, const Places *p)
{
    if (p->all > 1) text_printf(out, "%d of %d fit. ", p->fit, p->all);
    const Place *at = p->first_not.cell ? &p->first_not : &p->last;
    const FitLimit *fit = &at->cell->fits[at->limit];
    const HumanShortage s = human_shortage(fit->need, fit->limit);
    const CellLabel label = cell_label(at->cell->config, tables->sweep->varies);
    if (fit->fits) {
        text_printf(out, "%s fits in %s: it needs %s, and a batch of up to %s fits too.", label.s,
                    human_bytes((double)fit->limit).s, human_bytes((double)fit->need).s,
                    human_count(fit->most_batch).s);
        return;
    }
    text_printf(out, "%s does not fit in %s: it lacks %s; ", label.s,
                human_bytes((double)fit->limit).s, s.lack.s);
    const char *advice = at->cell->advice[at->limit].s;
    text_printf(out, *advice ? "it fits with %s." : "none of the changes tried makes it fit.",
                advice);
}

/* Where nobody says how much memory there is. */
static void put_largest(Text *out, const PlanTables *tables)
{
    const PlanCell *most = NULL;
    for (int i = 0; i < tables->sweep->n; i++) {
        const PlanCell *cell = &tables->cells[i];
        if (cell->unsupported) continue;
        if (!most || cell->memory.need[cell->config->mode] > most->memory.need[most->config->mode])
            most = cell;
    }
    if (!most) return;
    text_printf(out, "%s%s takes %s of memory and %sFLOP a step",
                tables->sweep->n > 1 ? "Most: " : "",
                cell_label(most->config, tables->sweep->varies).s,
                human_bytes((double)most->memory.need[most->config->mode]).s,
                human_si(most->cost.step.flops).s);
    if (most->roof_seconds > 0)
        text_printf(out, ", at least %s", human_seconds(most->roof_seconds).s);
    text_puts(out, ".");
}

void plan_conclusion_put(Text *out, const PlanTables *tables)
{
    const Places places = count_places(tables);
    if (forecast_table_wanted(tables) && put_forecast(out, tables)) return;
    if (places.all > 0)
        put_fits(out, tables, &places);
    else
        put_largest(out, tables);
}

/* ---- memory ---- */

static void put_peak(Text *out, const MemoryCell *cell)
{
    const MemoryProfile *p = &cell->profile;
    const MemoryMoment *peak = &p->highest[MEMORY_LATER_STEP];
    const Node *node = &cell->model.plan.nodes[peak->node];
    int most = 0;
    for (int u = 1; u < MEMORY_COUNT; u++) most = peak->usage[u] > peak->usage[most] ? u : most;
    text_printf(out, "The peak of %s is in %s, at %s (%s); most of it, %s %%, are %s.",
                human_bytes((double)peak->total).s, plan_phase_name(node->phase), node->scope,
                plan_op_name(node->op),
                human_percent((double)peak->usage[most], (double)peak->total).s,
                memory_blocks_class_name((MemoryClass)most));
}

void plan_conclusion_memory(Text *out, const Sweep *sweep, const MemoryCell *cells)
{
    const MemoryCell *most = NULL, *least = NULL;
    if (sweep->n == 1 && !cells[0].unsupported) {
        put_peak(out, &cells[0]);
        return;
    }
    for (int i = 0; i < sweep->n; i++) {
        const MemoryCell *cell = &cells[i];
        if (cell->unsupported) continue;
        if (!most || cell->asked.highest.total > most->asked.highest.total) most = cell;
        if (!least || cell->asked.highest.total < least->asked.highest.total) least = cell;
    }
    if (!most) return;
    text_printf(out, "Highest peak: %s, %s", cell_label(most->config, sweep->varies).s,
                human_bytes((double)most->asked.highest.total).s);
    if (least != most)
        text_printf(out, "; lowest: %s, %s", cell_label(least->config, sweep->varies).s,
                    human_bytes((double)least->asked.highest.total).s);
    text_puts(out, ".");
}
