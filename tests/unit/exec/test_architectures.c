/* The whole training step of every architecture that a configuration file may name. */
#include "small_architectures.h"
#include "step_checks.h"

static void test_reference(void **state)
{
    const Config c = small_architecture(*(const int *)*state);
    check_differences(&c);
}

static void test_variants(void **state)
{
    check_variants(small_architecture(*(const int *)*state), small_architectures_roundings);
}

int main(void)
{
    static int numbers[SMALL_ARCHITECTURES];
    static struct CMUnitTest tests[2 * SMALL_ARCHITECTURES];
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) {
        numbers[i] = i;
        tests[2 * i] = (struct CMUnitTest)cmocka_unit_test_prestate(test_reference, &numbers[i]);
        tests[2 * i + 1] = (struct CMUnitTest)cmocka_unit_test_prestate(test_variants, &numbers[i]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
