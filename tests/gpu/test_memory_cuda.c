/* On a GPU: dead memory is poisoned and nothing breaks, a life cut short does; what is computed again has
 * the same bits. */
#include "poison_harness.h"
#include "recompute_harness.h"

/* Opening a session prepares every product, which takes its time: few variants, each op in one of them. */
static const struct {
    Precision precision;
    Exec exec;
    Attention attention;
} variants[] = {{PRECISION_FP32, EXEC_EAGER, ATTENTION_NAIVE},
                {PRECISION_FP32, EXEC_FUSED, ATTENTION_FLASH},
                {PRECISION_BF16, EXEC_FUSED, ATTENTION_FUSED},
                {PRECISION_BF16, EXEC_FUSED, ATTENTION_FLASH}};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* Heads of a width that every attention takes. */
static Config gpu_config(void)
{
    Config c = small_config();
    c.model.d_model = 64;
    c.model.d_ff = 128;
    c.model.num_heads = 2;
    c.model.num_layers = 4;
    c.model.vocab = 64;
    c.ctx = 16;
    return c;
}

static void each_variant(void (*check)(const Config *config, BackendId backend), int64_t recompute)
{
    Config c = gpu_config();
    c.recompute = recompute;
    for (int i = 0; i < N_VARIANTS; i++) {
        c.precision = variants[i].precision;
        c.exec = variants[i].exec;
        c.attention = variants[i].attention;
        check(&c, BACKEND_cuda);
    }
}

static void test_poisoned(void **state)
{
    (void)state;
    each_variant(poison_check, CONFIG_RECOMPUTE_BLOCK);
}

static void test_micro_batches(void **state)
{
    (void)state;
    Config c = gpu_config();
    c.accumulate = 3;
    c.precision = PRECISION_BF16;
    c.attention = ATTENTION_FLASH;
    c.head_rows = 20;
    poison_check(&c, BACKEND_cuda);
}

static void test_cut_short(void **state)
{
    (void)state;
    Config c = gpu_config();
    c.attention = ATTENTION_FLASH;
    c.model.num_layers = 2;
    assert_true(poison_check_cut(&c, BACKEND_cuda, 8) > 4);
}

static void test_recompute_bits(void **state)
{
    (void)state;
    each_variant(recompute_check_bits, CONFIG_RECOMPUTE_BLOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poisoned),
        cmocka_unit_test(test_micro_batches),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_recompute_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
