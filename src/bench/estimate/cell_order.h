/* Which cell is measured next, where cells are rows of several tables: first one of every table,
 * the most important table before the others, then the rest in turn. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CELL_ORDER_MOST_TABLES = 64 };

typedef enum CellOrderState {
    CELL_ORDER_WAITING,
    CELL_ORDER_MEASURED,  /* something of it */
    CELL_ORDER_NO_RESULT, /* nothing: it does not fit, is not supported, or took too long */
    CELL_ORDER_SKIPPED    /* it cannot be run, and is not begun */
} CellOrderState;

typedef struct CellOrderCell {
    double seconds;  /* expected; the shorter cell comes first */
    uint64_t tables; /* a bit for each table that has it; bit 0 is the most important one */
    CellOrderState state;
} CellOrderCell;

/* *turn is the table whose turn it was last; -1 at the start. First cells of tables that are
 * expected to take more than half of the seconds left come last: one of them could use up the time
 * of all others. Returns -1 when no cell waits. */
int cell_order_next(const CellOrderCell *cells, int n, double left, int *turn);

/* Would this cell be taken before tables that have a row get another? True also when every table
 * has one. */
bool cell_order_is_next(const CellOrderCell *cells, int n, int cell);

/* Seconds that waiting cells which are cheaper than this one are expected to take together. */
double cell_order_cheaper(const CellOrderCell *cells, int n, int cell);

/* This cell timed out: waiting cells that take as long would time out too, with less time left. */
void cell_order_timed_out(CellOrderCell *cells, int n, int cell);
