/* The whole training step of every architecture that a configuration file may name. */
#include "small_architectures.h"
#include "step_checks.h"

static void test_references(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) {
        const Config c = small_architecture(i);
        check_differences(&c);
    }
}

static void test_variants(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) check_variants(small_architecture(i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
