/* The whole training step of every architecture that a configuration file may name. */
#include "small_architectures.h"
#include "step_checks.h"

static void test_reference(void **state)
{
    const Config c = small_architecture(*(const int *)*state);
    check_differences(&c);
}

/* In 16 bits a token may be nearer to another expert: there the choice is given. */
static void test_variants(void **state)
{
    Config c = small_architecture(*(const int *)*state);
    if (c.model.num_experts > 0) c.routing = 1.5;
    check_variants(c, small_architectures_roundings(&c));
}

/* With the model's own choice, which fp32 makes as float64 does. */
static void test_routed(void **state)
{
    Config c = small_architecture(*(const int *)*state);
    Step want;
    if (c.model.num_experts == 0) skip();
    for (int eager = 0; eager < 2; eager++) {
        c.exec = eager ? EXEC_EAGER : EXEC_FUSED;
        open_step(&want, &c, MODE_TRAIN, DT_F64, 1);
        check_variant(c, &want, 0, small_architectures_roundings(&c));
        close_step(&want);
    }
}

int main(void)
{
    static int numbers[SMALL_ARCHITECTURES];
    static struct CMUnitTest tests[3 * SMALL_ARCHITECTURES];
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) {
        numbers[i] = i;
        tests[3 * i] = (struct CMUnitTest)cmocka_unit_test_prestate(test_reference, &numbers[i]);
        tests[3 * i + 1] = (struct CMUnitTest)cmocka_unit_test_prestate(test_variants, &numbers[i]);
        tests[3 * i + 2] = (struct CMUnitTest)cmocka_unit_test_prestate(test_routed, &numbers[i]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
