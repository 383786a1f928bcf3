/* What fp8 keeps for backward, counted by hand for one block. */
#include "bench/estimate/fp8_memory.h"
#include "fp8_harness.h"

static Fp8Memory memory_of(const Config *c)
{
    const Placement cpu = {.backend = BACKEND_cpu, .threads = 1, .name = "cpu", .here = true};
    Model model;
    Binding binding;
    Fp8Memory memory;
    ASSERT_OK(placement_plan(&cpu, c, c->mode, &model, &binding));
    ASSERT_OK(fp8_memory_make(&memory, &cpu, c, &model.plan, &binding.mem));
    binding_free(&binding);
    model_free(&model);
    return memory;
}

/* Of each block h of both norms lies in 8 bits in place of 16, and the attention's output in both; w^T of
 * every linear layer waits in 8 bits. g is made again in backward. */
static void test_by_hand(void **state)
{
    (void)state;
    for (int64_t layers = 1; layers <= 3; layers++) {
        Config c = fp8_config(FP8_RECIPE_CURRENT);
        c.mode = MODE_FWD_BWD;
        c.model.num_layers = layers;
        const int64_t C = c.model.d_model, F = c.model.d_ff, N = c.batch * c.ctx;
        const int64_t weights = layers * (4 * C * C + 3 * C * F), scales = layers * 8 * 4;
        const Fp8Memory m = memory_of(&c);
        assert_true(m.known);
        assert_int_equal(m.bf16.weights, 0);
        assert_int_equal(m.fp8.weights, weights);
        const int64_t less = (int64_t)m.bf16.activations - (int64_t)m.fp8.activations;
        assert_in_range(less + scales, layers * N * C, layers * N * C + scales);
    }
}

static void test_without(void **state)
{
    (void)state;
    Config c = fp8_config(FP8_RECIPE_BLOCK);
    c.precision = PRECISION_BF16;
    assert_false(memory_of(&c).known);
    c = fp8_config(FP8_RECIPE_BLOCK);
    c.mode = MODE_FWD;
    assert_false(memory_of(&c).known);
    c.mode = MODE_TRAIN;
    c.fp8_layers = CONFIG_LINEARS_NONE;
    const Fp8Memory same = memory_of(&c);
    assert_true(same.known && same.fp8.weights == 0);
    assert_int_equal(same.fp8.activations, same.bf16.activations);
    assert_int_equal(same.fp8.planned, same.bf16.planned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand),
                                       cmocka_unit_test(test_without)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
