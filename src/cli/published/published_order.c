#include "cli/published/published_order.h"

#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double profiling = 2; /* times as long as bench: measured, then run again profiled */

/* ---- tables by importance ---- */

typedef enum Kind { END_TO_END, PROFILE, MEMORY, PRECISION, ATTENTION, NOT_RUN } Kind;

static Kind kind_of(const PublishedTable *table)
{
    if (table->command == &cmd_profile) return PROFILE;
    if (table->command == &cmd_attention) return ATTENTION;
    if (published_list_has_one_cell(table)) return NOT_RUN;
    if (strcasestr(table->title, "memory")) return MEMORY;
    return strcasestr(table->title, "precision") ? PRECISION : END_TO_END;
}

int published_order_table(const PublishedCells *cells, int writeup, int rank)
{
    for (int kind = END_TO_END; kind < NOT_RUN; kind++) {
        for (int t = 0; t < published_list_n_tables; t++) {
            const PublishedTable *table = &published_list_tables[t];
            if (table->writeup != writeup || !cells->has_table[t] || (int)kind_of(table) != kind)
                continue;
            if (rank-- == 0) return t;
        }
    }
    return -1;
}

/* ---- each cell once ---- */

static int find(const PublishedOrder *order, const PublishedCell *cell)
{
    char a[RECORD_KEY_SIZE], b[RECORD_KEY_SIZE];
    record_key_of_config(cell->config, a);
    for (int i = 0; i < order->n; i++) {
        record_key_of_config(&order->configs[i], b);
        if (order->profiled[i] == cell->profiled && strcmp(a, b) == 0) return i;
    }
    return -1;
}

static void add(PublishedOrder *order, const PublishedCell *cell, int rank,
                const TimeEstimateRates *rates)
{
    int i = find(order, cell);
    if (i < 0) {
        i = order->n++;
        order->configs[i] = *cell->config;
        order->profiled[i] = cell->profiled;
        order->row[i] = cell->row;
        order->cells[i].seconds = published_order_seconds(order, i, cell->config->mode, rates);
    }
    order->cells[i].tables |= (uint64_t)1 << rank;
}

static void add_all(PublishedOrder *order, int writeup, const PublishedCells *cells,
                    const TimeEstimateRates *rates)
{
    for (int rank = 0; rank < CELL_ORDER_MOST_TABLES; rank++) {
        const int table = published_order_table(cells, writeup, rank);
        for (PublishedCell cell = {0}; published_list_next(&cell, cells, writeup);) {
            if (cell.table == table) add(order, &cell, rank, rates);
        }
    }
}

/* ---- in order ---- */

static Status allocate(PublishedOrder *order, int n)
{
    *order = (PublishedOrder){.configs = calloc((size_t)n, sizeof *order->configs),
                              .profiled = calloc((size_t)n, sizeof *order->profiled),
                              .row = calloc((size_t)n, sizeof *order->row),
                              .cells = calloc((size_t)n, sizeof *order->cells)};
    if (order->configs && order->profiled && order->row && order->cells) return ST_OK;
    return NO_MEMORY("for the rows of a write-up");
}

/* Sorts as cell_order_next() takes them when each is measured. */
static Status sort(PublishedOrder *order, PublishedOrder *from)
{
    int turn = -1;
    TRY(allocate(order, from->n > 0 ? from->n : 1));
    for (int i; (i = cell_order_next(from->cells, from->n, INFINITY, &turn)) >= 0;) {
        const int to = order->n++;
        order->configs[to] = from->configs[i];
        order->profiled[to] = from->profiled[i];
        order->row[to] = from->row[i];
        order->cells[to] = from->cells[i];
        from->cells[i].state = CELL_ORDER_MEASURED;
    }
    return ST_OK;
}

Status published_order_make(PublishedOrder *order, int writeup, const PublishedCells *cells,
                            const TimeEstimateRates *rates)
{
    CLEANUP(published_order_free) PublishedOrder found = {0};
    *order = (PublishedOrder){0};
    TRY(allocate(&found, published_list_n_rows + published_list_n_tables));
    add_all(&found, writeup, cells, rates);
    return sort(order, &found);
}

void published_order_expect(PublishedOrder *order, const TimeEstimateRates *rates, double share)
{
    for (int i = 0; i < order->n; i++) {
        order->configs[i].sample_share = share;
        order->cells[i].seconds = published_order_seconds(order, i, order->configs[i].mode, rates);
    }
}

double published_order_seconds(const PublishedOrder *order, int i, Mode mode,
                               const TimeEstimateRates *rates)
{
    Config config = order->configs[i];
    config.mode = mode;
    return (order->profiled[i] ? profiling : 1) * time_estimate_cell(&config, rates);
}

void published_order_free(PublishedOrder *order)
{
    free(order->configs);
    free(order->profiled);
    free(order->row);
    free(order->cells);
    *order = (PublishedOrder){0};
}
