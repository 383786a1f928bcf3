#include "backend/cpu_features.h"
#include "backend/cpu_info.h"
#include "with_cmocka.h"

#include <stdlib.h>

static void hide(const char *words)
{
    assert_int_equal(setenv("ROOFSTEP_CPU_HIDE", words, 1), 0);
}

static void test_unknown(void **state)
{
    (void)state;
    hide("");
    assert_false(cpu_features_has("no such thing"));
    assert_false(cpu_features_has(""));
}

/* The kernel's own words, from another place. */
static void test_as_cpuinfo(void **state)
{
    (void)state;
    CpuInfo info;
    hide("");
    assert_int_equal(cpu_info_read(&info, ""), ST_OK);
    if (cpu_features_has("bf16")) assert_true(cpu_info_has(&info, "bf16"));
    if (cpu_features_has("asimd")) assert_true(cpu_info_has(&info, "asimd"));
}

static void test_hidden(void **state)
{
    (void)state;
    hide("");
    if (!cpu_features_has("asimd")) skip();
    hide("asimd");
    assert_false(cpu_features_has("asimd"));
    hide("bf16,asimd");
    assert_false(cpu_features_has("asimd"));
    hide("asimdx,asim,,x");
    assert_true(cpu_features_has("asimd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unknown),
                                       cmocka_unit_test(test_as_cpuinfo),
                                       cmocka_unit_test(test_hidden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
