/* The cells of a write-up, each once, in the order in which they would be measured. */
#ifndef CLI_LIKE_ORDER_H
#define CLI_LIKE_ORDER_H

#include "bench/breadth.h"
#include "bench/suite_cost.h"
#include "cli/like_cells.h"

typedef struct LikeOrder {
    Config *configs;    /* n of them; */
    bool *watched;      /* is it profiled? */
    int *table;         /* the most telling table that has it, by number in like_tables */
    BreadthCell *cells; /* all of them waiting */
    int n;
} LikeOrder;

/* Those that were asked for. The rates only order them. The caller frees it, after a failure too. */
Status like_order_make(LikeOrder *order, int writeup, const LikeCells *cells,
                       const SuiteRates *rates);
/* What each is expected to take with so many seconds for its samples, 0: all steps. */
void like_order_expect(LikeOrder *order, const SuiteRates *rates, double share);
/* And in that mode, where its own does not fit. */
double like_order_seconds(const Config *config, Mode mode, bool watched, const SuiteRates *rates);
void like_order_free(LikeOrder *order);

/* How telling a table is: end to end, then profiles, memory, precision, attention. Tables that nothing is run for
 * come last. */
typedef enum LikeKind {
    LIKE_END_TO_END,
    LIKE_PROFILE,
    LIKE_MEMORY,
    LIKE_PRECISION,
    LIKE_ATTENTION,
    LIKE_NUMBERS
} LikeKind;
LikeKind like_order_kind(const LikeTable *table);

#endif
