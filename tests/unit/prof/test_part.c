/* Every node of a step has its part and its category; the parts of attention are where they should be. */
#include "config/model_file.h"
#include "model/model.h"
#include "prof/part.h"
#include "with_cmocka.h"

#include <string.h>

static Config own_config(void)
{
    Config c;
    config_defaults(&c);
    c.model.d_model = 16;
    c.model.d_ff = 24;
    c.model.num_layers = 2;
    c.model.num_heads = 2;
    c.model.vocab = 11;
    return c;
}

static Config file_config(const char *name)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(model_file_load(&c.model, name), ST_OK);
    c.model.num_layers = 2;
    return c;
}

static void count(Config c, Exec exec, Attention attention, int parts[PART_COUNT + 1])
{
    Model model;
    c.ctx = 8;
    c.batch = 2;
    c.exec = exec;
    c.attention = attention;
    assert_int_equal(model_build(&model, &c, MODE_TRAIN, DT_F32), ST_OK);
    const Plan *plan = &model.plan;
    memset(parts, 0, (PART_COUNT + 1) * sizeof *parts);
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        assert_true(part_category(plan, node) < CATEGORY_COUNT);
        if (node->phase == PHASE_FORWARD) parts[part_of(plan, node)]++;
        if (part_of(plan, node) == PART_SOFTMAX)
            assert_int_equal(part_category(plan, node), CATEGORY_softmax);
    }
    model_free(&model);
}

static void test_category_names(void **state)
{
    (void)state;
    for (OpCategory c = 0; c < CATEGORY_COUNT; c++)
        assert_int_equal(plan_category_find(plan_category_name(c)), c);
    assert_int_equal(plan_category_find("other"), CATEGORY_COUNT);
    assert_int_equal(plan_category_find("matmuls"), CATEGORY_COUNT);
}

static void test_eager(void **state)
{
    (void)state;
    int parts[PART_COUNT + 1];
    count(own_config(), EXEC_EAGER, ATTENTION_NAIVE, parts);
    assert_int_equal(parts[PART_QKV], 2 * 3);
    assert_int_equal(parts[PART_ROPE_Q], 2 * 4);
    assert_int_equal(parts[PART_ROPE_K], 2 * 4);
    assert_int_equal(parts[PART_SCORES], 2 * 3); /* product, scale, mask */
    assert_int_equal(parts[PART_SOFTMAX], 2 * 5);
    assert_int_equal(parts[PART_VALUES], 2);
    assert_int_equal(parts[PART_OUTPUT], 2);
    assert_int_equal(parts[PART_RESIDUAL], 2);
    assert_int_equal(parts[PART_CORE] + parts[PART_ROPE], 0);
}

static void test_fused(void **state)
{
    (void)state;
    int parts[PART_COUNT + 1];
    count(own_config(), EXEC_FUSED, ATTENTION_FLASH, parts);
    assert_int_equal(parts[PART_QKV], 2);
    assert_int_equal(parts[PART_ROPE], 2);
    assert_int_equal(parts[PART_CORE], 2);
    assert_int_equal(parts[PART_OUTPUT], 2);
    assert_int_equal(parts[PART_SOFTMAX] + parts[PART_SCORES] + parts[PART_RESIDUAL], 0);
    count(own_config(), EXEC_FUSED, ATTENTION_FUSED, parts);
    assert_int_equal(parts[PART_SCORES], 2);
    assert_int_equal(parts[PART_SOFTMAX], 2);
    assert_int_equal(parts[PART_VALUES], 2);
}

/* Norms of q and k are part of attention; the bias of a LayerNorm is no residual. */
static void test_models_of_files(void **state)
{
    (void)state;
    int parts[PART_COUNT + 1];
    count(file_config("qwen3-0.6b"), EXEC_FUSED, ATTENTION_FLASH, parts);
    assert_int_equal(parts[PART_NORMS], 2 * 2);
    assert_int_equal(parts[PART_ROPE_Q] + parts[PART_ROPE_K], 2 * 2);
    count(file_config("gpt2"), EXEC_EAGER, ATTENTION_NAIVE, parts);
    assert_int_equal(parts[PART_NORMS] + parts[PART_ROPE_Q] + parts[PART_ROPE], 0);
    assert_int_equal(parts[PART_RESIDUAL], 2);
    count(file_config("pythia-160m"), EXEC_EAGER, ATTENTION_NAIVE, parts);
    assert_int_equal(parts[PART_RESIDUAL], 0); /* added together with the feed-forward's */
}

static void test_scope(void **state)
{
    (void)state;
    Node node = {.layer = 3};
    strcpy(node.scope, "layer.3/attn/softmax");
    assert_string_equal(part_scope(&node), "attn/softmax");
    node.layer = PLAN_NONE;
    strcpy(node.scope, "optimizer/adamw");
    assert_string_equal(part_scope(&node), "optimizer/adamw");
    assert_null(part_name(PART_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_category_names),
                                       cmocka_unit_test(test_eager), cmocka_unit_test(test_fused),
                                       cmocka_unit_test(test_models_of_files),
                                       cmocka_unit_test(test_scope)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
