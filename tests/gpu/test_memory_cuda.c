/* On a GPU: dead memory is poisoned and nothing breaks, a life cut short does; what is computed again has
 * the same bits. */
#include "poison_harness.h"
#include "recompute_harness.h"

static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16};
enum { N_PRECISIONS = sizeof precisions / sizeof *precisions };

/* Heads of a width that every attention takes. */
static Config gpu_config(void)
{
    Config c = small_config();
    c.d_model = 64;
    c.d_ff = 128;
    c.num_heads = 2;
    c.num_layers = 4;
    c.vocab = 64;
    c.ctx = 16;
    return c;
}

static void each_variant(void (*check)(const Config *config, BackendId backend), int64_t recompute)
{
    Config c = gpu_config();
    c.recompute = recompute;
    for (int p = 0; p < N_PRECISIONS; p++) {
        for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
            for (int attention = ATTENTION_NAIVE; attention <= ATTENTION_FLASH; attention++) {
                c.precision = precisions[p];
                c.exec = (Exec)exec;
                c.attention = (Attention)attention;
                check(&c, BACKEND_cuda);
            }
        }
    }
}

static void test_poisoned(void **state)
{
    (void)state;
    each_variant(poison_check, CONFIG_RECOMPUTE_NONE);
    each_variant(poison_check, CONFIG_RECOMPUTE_BLOCK);
}

static void test_cut_short(void **state)
{
    (void)state;
    Config c = gpu_config();
    c.attention = ATTENTION_FLASH;
    c.num_layers = 2;
    assert_true(poison_check_cut(&c, BACKEND_cuda) > 30);
}

static void test_recompute_bits(void **state)
{
    (void)state;
    each_variant(recompute_check_bits, CONFIG_RECOMPUTE_BLOCK);
    each_variant(recompute_check_bits, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poisoned),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_recompute_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
