#include "bench/estimate/cell_order.h"
#include "with_cmocka.h"

#include <math.h>

enum { N = 7 };

/* The order in which all are taken, were each measured, as "0 3 1 ...". */
static void expect(CellOrderCell *cells, int n, const int *wanted)
{
    int turn = -1;
    for (int i = 0; i < n; i++) {
        const int next = cell_order_next(cells, n, INFINITY, &turn);
        assert_int_equal(next, wanted[i]);
        cells[next].state = CELL_ORDER_MEASURED;
    }
    assert_int_equal(cell_order_next(cells, n, INFINITY, &turn), -1);
}

static void one_of_every_table_then_in_turn(void **state)
{
    /* Table 2 is the cheapest, and has most cells. */
    CellOrderCell cells[N] = {{50, 1, 0}, {40, 1, 0}, {90, 2, 0}, {1, 4, 0},
                              {2, 4, 0},  {3, 4, 0},  {95, 2, 0}};
    (void)state;
    expect(cells, N, (const int[]){1, 2, 3, 0, 6, 4, 5});
}

static void a_cell_of_two_tables_is_taken_once(void **state)
{
    CellOrderCell cells[3] = {{9, 1 | 2, 0}, {20, 2, 0}, {30, 1, 0}};
    (void)state;
    expect(cells, 3, (const int[]){0, 2, 1});
}

/* What did not fit leaves its table without a row: the next cheapest is tried before other tables go on. */
static void barren_cells_do_not_count(void **state)
{
    CellOrderCell cells[4] = {{1, 1, 0}, {2, 1, 0}, {1, 2, 0}, {2, 2, 0}};
    int turn = -1;
    (void)state;
    assert_int_equal(cell_order_next(cells, 4, INFINITY, &turn), 0);
    cells[0].state = CELL_ORDER_NO_RESULT;
    assert_int_equal(cell_order_next(cells, 4, INFINITY, &turn), 1);
    cells[1].state = CELL_ORDER_MEASURED;
    assert_int_equal(cell_order_next(cells, 4, INFINITY, &turn), 2);
    cells[2].state = CELL_ORDER_NO_RESULT;
    assert_int_equal(cell_order_next(cells, 4, INFINITY, &turn), 3);
    cells[3].state = CELL_ORDER_NO_RESULT;
    assert_int_equal(cell_order_next(cells, 4, INFINITY, &turn), -1);
}

/* Who may run in the process of another: first those that give a table its row. */
static void companions_wait_for_their_turn(void **state)
{
    CellOrderCell cells[4] = {{1, 1, 0}, {2, 1, 0}, {1, 2, 0}, {2, 2, 0}};
    (void)state;
    cells[0].state = CELL_ORDER_MEASURED;
    assert_true(cell_order_is_next(cells, 4, 2));
    assert_false(cell_order_is_next(cells, 4, 1));
    assert_false(cell_order_is_next(cells, 4, 3));
    cells[2].state = CELL_ORDER_MEASURED;
    assert_true(cell_order_is_next(cells, 4, 1));
    assert_true(cell_order_is_next(cells, 4, 3));
}

/* One that would take most of the time waits until the other tables have their rows. */
static void costly_rows_leave_the_others_time(void **state)
{
    CellOrderCell cells[3] = {{1, 1, 0}, {400, 2, 0}, {5, 4, 0}};
    int turn = -1;
    (void)state;
    cells[0].state = CELL_ORDER_MEASURED;
    assert_int_equal(cell_order_next(cells, 3, 1000, &turn), 1);
    assert_int_equal(cell_order_next(cells, 3, 600, &turn), 2);
    cells[2].state = CELL_ORDER_MEASURED;
    assert_int_equal(cell_order_next(cells, 3, 600, &turn), 1);
}

/* A row that the clock cuts leaves time to cheaper ones alone. */
static void cheaper_ones_go_on_after_a_cut(void **state)
{
    CellOrderCell cells[5] = {{20, 1, 0}, {60, 1, 0}, {30, 2, 0}, {5, 4, 0}, {1, 4, 0}};
    int turn = -1;
    (void)state;
    assert_true(cell_order_cheaper(cells, 5, 0) == 5 + 1);
    assert_true(cell_order_cheaper(cells, 5, 1) == 20 + 30 + 5 + 1);
    assert_true(cell_order_cheaper(cells, 5, 4) == 0);
    cell_order_timed_out(cells, 5, 0);
    assert_int_equal(cell_order_next(cells, 5, 1000, &turn), 4);
    cells[4].state = CELL_ORDER_MEASURED;
    assert_true(cell_order_cheaper(cells, 5, 3) == 0);
    assert_int_equal(cell_order_next(cells, 5, 1000, &turn), 3);
    cells[3].state = CELL_ORDER_MEASURED;
    assert_int_equal(cell_order_next(cells, 5, 1000, &turn), -1);
}

static void the_last_table_is_reached(void **state)
{
    CellOrderCell cell = {1, (uint64_t)1 << (CELL_ORDER_MOST_TABLES - 1), CELL_ORDER_WAITING};
    int turn = -1;
    (void)state;
    assert_int_equal(cell_order_next(&cell, 1, INFINITY, &turn), 0);
    assert_int_equal(cell_order_next(&cell, 0, INFINITY, &turn), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_every_table_then_in_turn),
        cmocka_unit_test(a_cell_of_two_tables_is_taken_once),
        cmocka_unit_test(barren_cells_do_not_count),
        cmocka_unit_test(companions_wait_for_their_turn),
        cmocka_unit_test(costly_rows_leave_the_others_time),
        cmocka_unit_test(cheaper_ones_go_on_after_a_cut),
        cmocka_unit_test(the_last_table_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
