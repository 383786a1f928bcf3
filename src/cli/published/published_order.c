#include "cli/published/published_order.h"

#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double watching = 2; /* times what bench takes: measured, then run again watched */

PublishedKind published_order_kind(const PublishedTable *table)
{
    if (table->command == &cmd_profile) return PUBLISHED_PROFILE;
    if (table->command == &cmd_attention) return PUBLISHED_ATTENTION;
    if (published_list_has_one_cell(table)) return PUBLISHED_NUMBERS;
    if (strcasestr(table->title, "memory")) return PUBLISHED_MEMORY;
    return strcasestr(table->title, "precision") ? PUBLISHED_PRECISION : PUBLISHED_END_TO_END;
}

/* ---- each cell once ---- */

static int find(const PublishedOrder *order, const Config *config, bool watched)
{
    char a[RECORD_KEY_SIZE], b[RECORD_KEY_SIZE];
    record_key_of_config(config, a);
    for (int i = 0; i < order->n; i++) {
        record_key_of_config(&order->configs[i], b);
        if (order->watched[i] == watched && strcmp(a, b) == 0) return i;
    }
    return -1;
}

/* `rank` is the table's number by how telling it is. */
static void add(PublishedOrder *order, const Config *config, int table, int rank,
                const TimeEstimateRates *rates)
{
    const bool watched = published_list_is_profile(&published_list_tables[table]);
    int i = find(order, config, watched);
    if (i < 0) {
        i = order->n++;
        order->configs[i] = *config;
        order->watched[i] = watched;
        order->table[i] = table;
        order->cells[i].seconds = (watched ? watching : 1) * time_estimate_cell(config, rates);
    }
    order->cells[i].tables |= (uint64_t)1 << rank;
}

static void add_table(PublishedOrder *order, int table, int rank, const PublishedCells *cells,
                      const TimeEstimateRates *rates)
{
    if (published_list_is_profile(&published_list_tables[table])) {
        add(order, &cells->watched[table], table, rank, rates);
        return;
    }
    for (int r = 0; r < published_list_n_rows; r++) {
        if (published_list_rows[r].table == table && cells->has_row[r])
            add(order, &cells->rows[r], table, rank, rates);
    }
}

static void add_all(PublishedOrder *order, int writeup, const PublishedCells *cells,
                    const TimeEstimateRates *rates)
{
    int rank = 0;
    for (int kind = PUBLISHED_END_TO_END; kind < PUBLISHED_NUMBERS; kind++) {
        for (int t = 0; t < published_list_n_tables && rank < CELL_ORDER_MOST_TABLES; t++) {
            const PublishedTable *table = &published_list_tables[t];
            if (table->writeup != writeup || !cells->has_table[t]) continue;
            if ((int)published_order_kind(table) == kind) add_table(order, t, rank++, cells, rates);
        }
    }
}

/* ---- in order ---- */

static Status make_room(PublishedOrder *order, int n)
{
    *order = (PublishedOrder){.configs = calloc((size_t)n, sizeof *order->configs),
                              .watched = calloc((size_t)n, sizeof *order->watched),
                              .table = calloc((size_t)n, sizeof *order->table),
                              .cells = calloc((size_t)n, sizeof *order->cells)};
    return order->configs && order->watched && order->table && order->cells
               ? ST_OK
               : NO_MEMORY("for the rows of a write-up");
}

/* As cell_order_next() would take them, were each measured. */
static Status sort(PublishedOrder *order, PublishedOrder *from)
{
    int turn = -1;
    TRY(make_room(order, from->n > 0 ? from->n : 1));
    for (int i; (i = cell_order_next(from->cells, from->n, INFINITY, &turn)) >= 0;) {
        const int to = order->n++;
        order->configs[to] = from->configs[i];
        order->watched[to] = from->watched[i];
        order->table[to] = from->table[i];
        order->cells[to] = from->cells[i];
        from->cells[i].state = CELL_ORDER_MEASURED;
    }
    return ST_OK;
}

Status published_order_make(PublishedOrder *order, int writeup, const PublishedCells *cells,
                            const TimeEstimateRates *rates)
{
    PublishedOrder found;
    *order = (PublishedOrder){0};
    Status status = make_room(&found, published_list_n_rows + published_list_n_tables);
    if (status == ST_OK) {
        add_all(&found, writeup, cells, rates);
        status = sort(order, &found);
    }
    published_order_free(&found);
    return status;
}

void published_order_expect(PublishedOrder *order, const TimeEstimateRates *rates, double share)
{
    for (int i = 0; i < order->n; i++) {
        order->configs[i].sample_share = share;
        order->cells[i].seconds = published_order_seconds(
            &order->configs[i], order->configs[i].mode, order->watched[i], rates);
    }
}

double published_order_seconds(const Config *config, Mode mode, bool watched,
                               const TimeEstimateRates *rates)
{
    Config smaller = *config;
    smaller.mode = mode;
    return (watched ? watching : 1) * time_estimate_cell(&smaller, rates);
}

void published_order_free(PublishedOrder *order)
{
    free(order->configs);
    free(order->watched);
    free(order->table);
    free(order->cells);
    *order = (PublishedOrder){0};
}
