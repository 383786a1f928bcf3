/* Cells of a write-up are measured once, one of every table first; the budget bounds them. */
#include "bench/record/record.h"
#include "cli/published/published_run.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

typedef struct Ordered {
    int writeup;
    PublishedCells cells;
    PublishedOrder order;
} Ordered;

static Ordered ordered(const char *name, const char *sizes)
{
    Ordered o = {0};
    const TimeEstimateRates rates = time_estimate_rates(NULL);
    assert_int_equal(published_list_find(name, &o.writeup), ST_OK);
    assert_int_equal(published_list_cells(&o.cells, "--device cpu --threads 1", sizes), ST_OK);
    assert_int_equal(published_order_make(&o.order, o.writeup, &o.cells, &rates), ST_OK);
    return o;
}

static void ordered_free(Ordered *o)
{
    published_order_free(&o->order);
    published_list_cells_free(&o->cells);
}

static void every_cell_once(void **state)
{
    Ordered o = ordered("rtx5090-nsys", "");
    char a[RECORD_KEY_SIZE], b[RECORD_KEY_SIZE];
    (void)state;
    assert_true(o.order.n > 100);
    for (int i = 0; i < o.order.n; i++) {
        record_key_of_config(&o.order.configs[i], a);
        for (int j = 0; j < i; j++) {
            record_key_of_config(&o.order.configs[j], b);
            if (o.order.profiled[i] == o.order.profiled[j]) assert_string_not_equal(a, b);
        }
    }
    ordered_free(&o);
}

static void one_row_of_every_table_first(void **state)
{
    Ordered o = ordered("rtx5090-nsys", "");
    uint64_t all = 0, seen = 0;
    (void)state;
    for (int i = 0; i < o.order.n; i++) all |= o.order.cells[i].tables;
    for (int i = 0; seen != all; i++) {
        assert_true((o.order.cells[i].tables & ~seen) != 0);
        seen |= o.order.cells[i].tables;
    }
    ordered_free(&o);
}

static void a_size_chooses_rows(void **state)
{
    Ordered o = ordered("8gb", "small,");
    (void)state;
    assert_true(o.order.n > 0);
    for (int i = 0; i < o.order.n; i++) assert_string_equal(o.order.configs[i].model.size, "small");
    ordered_free(&o);
}

static void the_budget_has_a_default(void **state)
{
    PublishedPlan plan = {.budget = NAN};
    (void)state;
    const PublishedTime cpu = published_run_time(&plan, false, 100);
    assert_true(cpu.budget == 600 && cpu.deadline > 100 && cpu.deadline < 700);
    assert_true(isinf(published_run_time(&plan, true, 100).deadline));
    plan.budget = INFINITY; /* --full: all steps */
    assert_true(published_run_share(&(PublishedTime){INFINITY, INFINITY, 0}, INFINITY, 3) == 0);
    assert_true(isinf(published_run_time(&plan, false, 0).budget));
}

/* Rows share what is left, and samples are a third of a row. */
static void rows_share_the_time(void **state)
{
    const PublishedTime time = {100, 100, 0};
    (void)state;
    assert_true(fabs(published_run_share(&time, 100, 10) - 3) < 1e-9);
    assert_true(published_run_share(&time, 100, 0) == published_run_share(&time, 100, 1));
    assert_true(published_run_share(&time, 0, 5) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_once),     cmocka_unit_test(one_row_of_every_table_first),
        cmocka_unit_test(a_size_chooses_rows), cmocka_unit_test(the_budget_has_a_default),
        cmocka_unit_test(rows_share_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
