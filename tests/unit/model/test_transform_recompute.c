/* Recomputation: the same bits with less memory, and no more work than backward needs. */
#include "memory_map.h"
#include "model/step_cost.h"
#include "model/transform_recompute.h"
#include "recompute_harness.h"
#include "small_architectures.h"

static Config deep_config(void)
{
    Config c = small_config();
    c.model.num_layers = 6;
    return c;
}

/* ---- gradients and updates to the bit ---- */

static void test_bits(void **state)
{
    (void)state;
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    static const int64_t every[] = {1, 4};
    Config c = deep_config();
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
        for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
            for (int attention = ATTENTION_NAIVE; attention <= ATTENTION_FLASH; attention++) {
                for (size_t e = 0; e < sizeof every / sizeof *every; e++) {
                    c.precision = precisions[p];
                    c.exec = (Exec)exec;
                    c.attention = (Attention)attention;
                    c.recompute = every[e];
                    recompute_check_bits(&c, BACKEND_cpu);
                }
            }
        }
    }
}

static void test_bits_of_architectures(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) {
        Config c = small_architecture(i);
        c.model.num_layers = 4;
        c.recompute = 1;
        c.exec = EXEC_FUSED;
        for (int p = 0; p < 2; p++) {
            c.precision = p ? PRECISION_BF16 : PRECISION_FP32;
            recompute_check_bits(&c, BACKEND_cpu);
        }
    }
}

/* The norm that a segment begins with reads the kept sum: what was added to get it need not wait for
 * backward. */
static void test_norms_begin_with_the_sum(void **state)
{
    (void)state;
    for (int i = 0; i < SMALL_ARCHITECTURES; i++) {
        Config c = small_architecture(i);
        Model model;
        c.model.num_layers = 4;
        c.recompute = 1;
        ASSERT_OK(model_build(&model, &c, MODE_TRAIN, DT_F32));
        int found = 0;
        for (int n = 0; n < model.plan.n_nodes; n++) {
            const Node *node = &model.plan.nodes[n];
            if (!node->recomputed || !strstr(node->scope, "attn/ln1")) continue;
            assert_int_equal(plan_in_id(&model.plan, node, node->n_in - 1), PLAN_NONE);
            found++;
        }
        assert_int_equal(found, 3); /* the last block is not recomputed */
        model_free(&model);
    }
}

/* ---- what it costs and what it saves ---- */

typedef struct Bound {
    Model model;
    Binding binding;
} Bound;

static void open_bound(Bound *b, const Config *c)
{
    ASSERT_OK(model_build(&b->model, c, c->mode, DT_F32));
    ASSERT_OK(binding_make(&b->binding, &b->model.plan, BACKEND_cpu, 2, NULL));
    memory_map_check(&b->model.plan, &b->binding.mem, b->binding.workspace);
}

static void close_bound(Bound *b)
{
    binding_free(&b->binding);
    model_free(&b->model);
}

/* Bytes that wait for backward. */
static size_t carried(const Bound *b)
{
    int begin = 0, end = 0;
    plan_phase_nodes(&b->model.plan, PHASE_BACKWARD, &begin, &end);
    return mem_plan_carried(&b->binding.mem, &b->model.plan, begin);
}

/* Of every block but the last only the residual stream waits, and of each the product w2 and the first
 * addition are not repeated: 3/4 of the products' FLOPs where F = 4 C, and attention. */
static void test_cost(void **state)
{
    (void)state;
    Config c = deep_config();
    Bound plain, again;
    c.model.d_model = 64;
    c.model.d_ff = 256;
    c.model.num_heads = 4;
    c.ctx = 32;
    c.batch = 4;
    open_bound(&plain, &c);
    c.recompute = CONFIG_RECOMPUTE_BLOCK;
    open_bound(&again, &c);
    const double tokens = 4 * 32, C = 64, F = 256, T = 32;
    const double products = 2 * tokens * (4 * C * C + 2 * C * F), attention = 2 * tokens * T * C;
    const double flops = step_cost_of(&again.model.plan).step.recomputed_flops;
    assert_true(flops >= 5 * (products + attention) && flops < 5.2 * (products + attention));
    assert_true(step_cost_of(&again.model.plan).step.matmul_flops ==
                step_cost_of(&plain.model.plan).step.matmul_flops);
    assert_true(step_cost_of(&plain.model.plan).step.recomputed_flops == 0);
    const size_t per_block = (carried(&plain) - carried(&again)) / 5;
    assert_int_equal(per_block, 4 * 128 * (64 + 3 * 64 + 64 + 64 + 64 + 2 * 256 + 2 + 4));
    assert_true(mem_plan_total(&again.binding.mem) < mem_plan_total(&plain.binding.mem));
    close_bound(&again);
    close_bound(&plain);
}

static void test_how_many(void **state)
{
    (void)state;
    static const struct {
        int64_t every, first, want;
    } cases[] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 5}, {2, 0, 4}, {4, 0, 4},
                 {5, 0, 5}, {6, 0, 0},  {9, 0, 0}, {1, 3, 3}, {1, 9, 5}};
    Config c = deep_config();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c.recompute = cases[i].every;
        c.recompute_blocks = cases[i].first;
        assert_int_equal(transform_recompute_blocks(&c), cases[i].want);
    }
}

/* The more blocks, the less waits for backward and the more is computed again. */
static void test_monotone(void **state)
{
    (void)state;
    Config c = deep_config();
    size_t before = SIZE_MAX;
    double flops = -1;
    c.recompute = CONFIG_RECOMPUTE_BLOCK;
    for (c.recompute_blocks = 1; c.recompute_blocks <= 5; c.recompute_blocks++) {
        Bound b;
        open_bound(&b, &c);
        assert_true(carried(&b) < before);
        assert_true(step_cost_of(&b.model.plan).step.recomputed_flops > flops);
        before = carried(&b);
        flops = step_cost_of(&b.model.plan).step.recomputed_flops;
        close_bound(&b);
    }
}

/* Nothing is kept for a backward pass that does not come. */
static void test_forward_alone(void **state)
{
    (void)state;
    Config c = deep_config();
    Bound plain, again;
    c.mode = MODE_FWD;
    open_bound(&plain, &c);
    c.recompute = CONFIG_RECOMPUTE_BLOCK;
    open_bound(&again, &c);
    assert_int_equal(plain.model.plan.n_nodes, again.model.plan.n_nodes);
    close_bound(&again);
    close_bound(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_bits_of_architectures),
        cmocka_unit_test(test_norms_begin_with_the_sum),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_forward_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
