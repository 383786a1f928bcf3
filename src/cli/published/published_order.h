/* The cells of a write-up, each once, in the order in which they are measured. */
#pragma once

#include "bench/estimate/cell_order.h"
#include "bench/estimate/time_estimate.h"
#include "cli/published/published_list.h"

typedef struct PublishedOrder {
    Config *configs; /* n of them */
    bool *profiled;
    const PublishedRow **row; /* in the most important table that has it; NULL: a profile */
    CellOrderCell *cells;     /* all of them waiting */
    int n;
} PublishedOrder;

/* Takes the chosen cells; the rates only order them. The caller frees it, after a failure too. */
Status published_order_make(PublishedOrder *order, int writeup, const PublishedCells *cells,
                            const TimeEstimateRates *rates);
/* Estimates the seconds of each cell with `share` seconds for its samples, 0: all steps. */
void published_order_expect(PublishedOrder *order, const TimeEstimateRates *rates, double share);
/* The same for one cell, in a mode that fits. */
double published_order_seconds(const PublishedOrder *order, int i, Mode mode,
                               const TimeEstimateRates *rates);
void published_order_free(PublishedOrder *order);

/* Steps through the chosen tables of a write-up by importance, from 0 on: end to end, then profiles,
 * memory, precision, attention. Tables that need no run are left out. -1: there are no more. */
int published_order_table(const PublishedCells *cells, int writeup, int rank);
