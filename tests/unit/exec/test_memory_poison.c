/* The memory plan against the device: dead memory is poisoned and nothing breaks; a life cut short does. */
#include "poison_harness.h"

static const int64_t recomputes[] = {CONFIG_RECOMPUTE_NONE, CONFIG_RECOMPUTE_BLOCK};
enum { N_RECOMPUTES = sizeof recomputes / sizeof *recomputes };

static Config deep_config(void)
{
    Config c = small_config();
    c.model.num_layers = 3;
    return c;
}

static void test_poisoned(void **state)
{
    (void)state;
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    Config c = deep_config();
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
        for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
            for (int attention = ATTENTION_NAIVE; attention <= ATTENTION_FLASH; attention++) {
                for (int r = 0; r < N_RECOMPUTES; r++) {
                    c.precision = precisions[p];
                    c.exec = (Exec)exec;
                    c.attention = (Attention)attention;
                    c.recompute = recomputes[r];
                    poison_check(&c, BACKEND_cpu);
                }
            }
        }
    }
}

static void test_cut_short(void **state)
{
    (void)state;
    Config c = small_config();
    for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
        c.exec = (Exec)exec;
        assert_true(poison_check_cut(&c, BACKEND_cpu, 1) > 30);
    }
    c.recompute = CONFIG_RECOMPUTE_BLOCK;
    assert_true(poison_check_cut(&c, BACKEND_cpu, 1) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poisoned),
        cmocka_unit_test(test_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
