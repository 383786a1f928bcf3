#include "bench/record/comparison_gate.h"

#include "base/human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The samples do not exclude that it is slower by more than the limit, nor show it. An interval that is not
 * known excludes nothing. */
static bool is_unsure(const ComparisonPhase *p, double limit)
{
    if (isinf(limit)) return p->verdict == COMPARISON_UNSURE;
    if (p->verdict != COMPARISON_UNSURE && p->verdict != COMPARISON_SLOWER) return false;
    return p->change <= limit || p->verdict == COMPARISON_UNSURE ? !(p->high <= limit) : false;
}

static void add_phase(ComparisonGate *gate, const ComparisonCell *cell, int phase, double limit)
{
    const ComparisonPhase *p = &cell->phases[phase];
    gate->lost += p->status_a == RECORD_OK && p->status_b != RECORD_OK;
    gate->unsure += is_unsure(p, limit);
    if (p->verdict != COMPARISON_SLOWER) return;
    gate->slower += p->change > limit;
    if (gate->worst && gate->worst->phases[gate->worst_phase].change >= p->change) return;
    gate->worst = cell;
    gate->worst_phase = phase;
}

ComparisonGate comparison_gate_make(const Comparison *comparison, double limit)
{
    ComparisonGate gate = {0};
    for (size_t i = 0; i < comparison->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++)
            add_phase(&gate, &comparison->cells[i], k, limit);
    }
    return gate;
}

/* ---- some of the phases ---- */

Status comparison_gate_read_phases(const char *list, bool wanted[COMPARISON_PHASES])
{
    for (const char *word = list;;) {
        const size_t n = strcspn(word, ",");
        bool found = false;
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            if (strlen(comparison_phases[k]) != n || strncmp(comparison_phases[k], word, n) != 0)
                continue;
            found = wanted[k] = true;
        }
        if (!found)
            return FAIL(ST_USAGE,
                        "--phase %s: expected forward, backward, optimizer or step, with commas "
                        "between several",
                        human_plain(list).s);
        if (!word[n]) return ST_OK;
        word += n + 1;
    }
}

Status comparison_gate_select(Comparison *comparison, const char *list)
{
    bool wanted[COMPARISON_PHASES] = {false}, any = false;
    TRY(comparison_gate_read_phases(list, wanted));
    for (int k = 0; k < COMPARISON_PHASES; k++) {
        if (!wanted[k]) comparison->n_ratios[k] = 0;
        for (size_t i = 0; i < comparison->n_cells; i++) {
            ComparisonPhase *p = &comparison->cells[i].phases[k];
            if (!wanted[k]) *p = comparison_no_phase();
            any = any || p->present;
        }
    }
    return any ? ST_OK : FAIL(ST_USAGE, "--phase %s: no cell of the files has it", list);
}
