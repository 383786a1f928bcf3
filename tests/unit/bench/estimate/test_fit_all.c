#include "bench/estimate/fit.h"
#include "with_cmocka.h"

#include <stdint.h>

static const size_t gib = (size_t)1 << 30;

static Config cell(const char *size)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(model_spec_preset(&c.model, size), ST_OK);
    return c;
}

/* Training of small takes 1.92 GiB, of medium 6.31. */
static void every_cell_must_fit(void **state)
{
    (void)state;
    const Config cells[] = {cell("small"), cell("medium")};
    assert_true(fit_all(cells, 1, 3 * gib));
    assert_false(fit_all(cells, 2, 3 * gib));
    assert_true(fit_all(cells, 2, 8 * gib));
    assert_false(fit_all(cells, 1, gib));
    assert_true(fit_all(cells, 2, SIZE_MAX));
}

static void a_limit_of_its_own_counts(void **state)
{
    (void)state;
    Config c = cell("small");
    c.memory_limit = (int64_t)gib;
    assert_false(fit_all(&c, 1, 3 * gib));
    c.mode = MODE_FWD;
    assert_true(fit_all(&c, 1, 3 * gib));
}

static void this_machine_has_some(void **state)
{
    (void)state;
    assert_true(fit_free_memory(false) > gib / 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_must_fit),
        cmocka_unit_test(a_limit_of_its_own_counts),
        cmocka_unit_test(this_machine_has_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
