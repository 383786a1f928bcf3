#include "bench/estimate/cell_order.h"

static bool has(const CellOrderCell *cell, int table)
{
    return cell->tables >> table & 1;
}

/* -1: none of the table waits. */
static int cheapest(const CellOrderCell *cells, int n, int table)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (cells[i].state != CELL_ORDER_WAITING || !has(&cells[i], table)) continue;
        if (best < 0 || cells[i].seconds < cells[best].seconds) best = i;
    }
    return best;
}

static bool has_row(const CellOrderCell *cells, int n, int table)
{
    bool measured = false;
    for (int i = 0; i < n; i++)
        measured = measured || (cells[i].state == CELL_ORDER_MEASURED && has(&cells[i], table));
    return measured;
}

int cell_order_next(const CellOrderCell *cells, int n, double left, int *turn)
{
    int costly = -1;
    for (int t = 0; t < CELL_ORDER_MOST_TABLES; t++) {
        const int next = has_row(cells, n, t) ? -1 : cheapest(cells, n, t);
        if (next >= 0 && cells[next].seconds <= left / 2) return next;
        if (costly < 0) costly = next;
    }
    if (costly >= 0) return costly;
    for (int i = 1; i <= CELL_ORDER_MOST_TABLES; i++) {
        const int t = (*turn + i) % CELL_ORDER_MOST_TABLES;
        const int next = cheapest(cells, n, t);
        if (next < 0) continue;
        *turn = t;
        return next;
    }
    return -1;
}

bool cell_order_is_next(const CellOrderCell *cells, int n, int cell)
{
    bool over = true;
    for (int t = 0; t < CELL_ORDER_MOST_TABLES; t++) {
        const int next = has_row(cells, n, t) ? -1 : cheapest(cells, n, t);
        if (next == cell) return true;
        over = over && next < 0;
    }
    return over;
}

double cell_order_cheaper(const CellOrderCell *cells, int n, int cell)
{
    double seconds = 0;
    for (int i = 0; i < n; i++) {
        if (cells[i].state == CELL_ORDER_WAITING && cells[i].seconds < cells[cell].seconds)
            seconds += cells[i].seconds;
    }
    return seconds;
}

void cell_order_timed_out(CellOrderCell *cells, int n, int cell)
{
    cells[cell].state = CELL_ORDER_NO_RESULT;
    for (int i = 0; i < n; i++) {
        if (cells[i].state == CELL_ORDER_WAITING && cells[i].seconds >= cells[cell].seconds)
            cells[i].state = CELL_ORDER_NO_RESULT;
    }
}
