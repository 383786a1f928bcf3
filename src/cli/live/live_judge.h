/* What the pairs of compare --live say so far. */
#pragma once

#include "cli/live/live.h"

/* Takes the rows of the last start of each side as the next pair. The first pair makes the cells.
 * ST_USAGE: the two do not have the same number of rows, or no cell has a phase that is wanted. */
Status live_judge_add_pair(Live *live);
/* Intervals and verdicts from all pairs. */
void live_judge_decide(Live *live);
/* Every phase that is wanted has a verdict that more pairs would not change. */
bool live_judge_is_sure(const Live *live);
/* Of all of them: SLOWER if a cell is a regression, otherwise UNSURE if one is, otherwise SLOWER,
 * FASTER or SAME. */
ComparisonVerdict live_judge_verdict(const Live *live);
/* The phase that changed most among those that are slower or faster, slower ones first. False: none
 * is. */
bool live_judge_worst(const Live *live, size_t *cell, int *phase);
