/* The cells of a write-up, each once, in the order in which they would be measured. */
#ifndef CLI_PUBLISHED_PUBLISHED_ORDER_H
#define CLI_PUBLISHED_PUBLISHED_ORDER_H

#include "bench/estimate/cell_order.h"
#include "bench/estimate/time_estimate.h"
#include "cli/published/published_cells.h"

typedef struct PublishedOrder {
    Config *configs; /* n of them; */
    bool *watched;   /* is it profiled? */
    int *table;      /* the most telling table that has it, by number in published_list_tables */
    CellOrderCell *cells; /* all of them waiting */
    int n;
} PublishedOrder;

/* Those that were asked for. The rates only order them. The caller frees it, after a failure too. */
Status published_order_make(PublishedOrder *order, int writeup, const PublishedCells *cells,
                            const TimeEstimateRates *rates);
/* What each is expected to take with so many seconds for its samples, 0: all steps. */
void published_order_expect(PublishedOrder *order, const TimeEstimateRates *rates, double share);
/* And in that mode, where its own does not fit. */
double published_order_seconds(const Config *config, Mode mode, bool watched,
                               const TimeEstimateRates *rates);
void published_order_free(PublishedOrder *order);

/* How telling a table is: end to end, then profiles, memory, precision, attention. Tables that nothing is run for
 * come last. */
typedef enum PublishedKind {
    PUBLISHED_END_TO_END,
    PUBLISHED_PROFILE,
    PUBLISHED_MEMORY,
    PUBLISHED_PRECISION,
    PUBLISHED_ATTENTION,
    PUBLISHED_NUMBERS
} PublishedKind;
PublishedKind published_order_kind(const PublishedTable *table);

#endif
