/* What a comparison means for a script that shall pass or fail. */
#pragma once

#include "bench/record/comparison.h"

typedef struct ComparisonGate {
    int slower; /* phases with the verdict SLOWER whose median rose by more than the limit */
    int unsure; /* phases of which the samples do not tell whether they are slower by more */
    int lost;   /* phases measured in A and not in B */
    const ComparisonCell *worst; /* of all that are SLOWER the one that rose most; NULL: none is */
    int worst_phase;
} ComparisonGate;

/* `limit` is a fraction, 0.03 for 3 %. At INFINITY no phase is slower by more, and unsure are those with the
 * verdict UNSURE. */
ComparisonGate comparison_gate_make(const Comparison *comparison, double limit);

/* Reads "step" or "forward,backward". ST_USAGE: a word of the list is no phase. */
Status comparison_gate_read_phases(const char *list, bool wanted[COMPARISON_PHASES]);

/* Keeps the phases that are listed, "step" or "forward,backward", and forgets the others. ST_USAGE: a
 * word of the list is no phase, or no cell has one of them. */
Status comparison_gate_select(Comparison *comparison, const char *list);
