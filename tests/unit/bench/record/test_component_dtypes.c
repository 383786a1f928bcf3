/* The table of dtypes has every parameter and every node of every model that comes along. */
#include "bench/record/component_dtypes.h"
#include "config/model_file.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

static Config config_of(const char *model, Precision precision)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(model_file_load(&c.model, model), ST_OK);
    c.model.num_layers = 2;
    c.batch = 2;
    c.ctx = 64;
    c.precision = precision;
    return c;
}

static void expect(const Model *m, Component component, const char *expected)
{
    const ComponentText text = component_dtypes_of(m, component);
    if (strcmp(text.s, expected) != 0)
        fail_msg("%s: %s, not %s", component_dtypes_names[component], text.s, expected);
}

/* ---- nothing is left out ---- */

static void check_has(const Model *m, const char *what, Component component, int tensor)
{
    if (component == COMPONENT_COUNT) fail_msg("%s is of no component", what);
    const DType dtype = m->plan.tensors[tensor].dtype;
    const ComponentText text = component_dtypes_of(m, component);
    if (!strstr(text.s, plan_dtype_name(dtype)))
        fail_msg("%s is %s, and %s says %s", what, plan_dtype_name(dtype),
                 component_dtypes_names[component], text.s);
}

/* What the forward pass reads: the 16-bit copy where there is one. */
static int read_of(const Model *m, const Param *p)
{
    const int flat = plan_storage(&m->plan, p->tensor);
    int i = 0;
    while (m->groups[i].flat != flat) i++;
    return m->groups[i].copy != PLAN_NONE ? m->groups[i].copy : flat;
}

static void check_params(const Model *m)
{
    for (int i = 0; i < m->n_params; i++) {
        const Param *p = &m->params[i];
        check_has(m, p->name, component_dtypes_of_param(m, p), read_of(m, p));
    }
}

static void check_nodes(const Model *m)
{
    for (int i = 0; i < m->plan.n_nodes; i++) {
        const Node *node = &m->plan.nodes[i];
        char what[96];
        if (node->phase != PHASE_FORWARD && node->phase != PHASE_BACKWARD) continue;
        snprintf(what, sizeof what, "%s of %.48s", plan_op_name(node->op), node->scope);
        const Component component = component_dtypes_of_node(m, node);
        /* Taken apart, what a softmax, a loss or a norm writes in between is no result of it. */
        if (m->eager) {
            if (component == COMPONENT_COUNT) fail_msg("%s is of no component", what);
            assert_string_not_equal(component_dtypes_of(m, component).s, "-");
        } else if (component != COMPONENT_WEIGHT_GRADIENTS) {
            check_has(m, what, component, plan_out_id(&m->plan, node, 0));
        }
    }
}

static void check_model(const Config *c)
{
    Model m;
    assert_int_equal(model_build(&m, c, MODE_TRAIN, DT_F32), ST_OK);
    check_params(&m);
    check_nodes(&m);
    model_free(&m);
}

static void test_every_model(void **state)
{
    (void)state;
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    for (const ModelFile *file = model_file_bundled; file->name; file++) {
        for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
            Config c = config_of(file->name, precisions[p]);
            for (int attention = ATTENTION_NAIVE; attention < ATTENTION_CUDNN; attention++) {
                c.attention = (Attention)attention;
                c.exec = EXEC_FUSED;
                c.head_rows = 0;
                check_model(&c);
                c.head_rows = 48;
                check_model(&c);
            }
            c.exec = EXEC_EAGER;
            c.attention = ATTENTION_NAIVE;
            check_model(&c);
        }
    }
}

/* ---- what the table says ---- */

/* Learned positions and the biases of norms are fp32, and no weights of products. */
static void test_gpt2(void **state)
{
    (void)state;
    const Config c = config_of("gpt2", PRECISION_BF16);
    Model m;
    assert_int_equal(model_build(&m, &c, MODE_TRAIN, DT_F32), ST_OK);
    expect(&m, COMPONENT_PARAMETERS, "bf16");
    expect(&m, COMPONENT_MASTERS, "bf16 and low16");
    expect(&m, COMPONENT_EMBEDDINGS, "f32 and bf16"); /* positions; the tied table */
    expect(&m, COMPONENT_NORM_WEIGHTS, "f32");
    expect(&m, COMPONENT_NORM_INSIDE, "f32");
    expect(&m, COMPONENT_NORM_OUTPUT, "bf16");
    expect(&m, COMPONENT_FEED_FORWARD, "bf16");
    expect(&m, COMPONENT_ACTIVATION, "bf16");
    expect(&m, COMPONENT_ROPE, "-");
    expect(&m, COMPONENT_PARALLEL, "-");
    expect(&m, COMPONENT_WEIGHT_GRADIENTS, "bf16");
    expect(&m, COMPONENT_NORM_GRADIENTS, "f32");
    expect(&m, COMPONENT_MOMENTS, "f32");
    model_free(&m);
}

/* The head's gradients in the forward phase are gradients, no outputs of layers. */
static void test_chunks(void **state)
{
    (void)state;
    Config c = config_of("qwen3-0.6b", PRECISION_BF16);
    Model m;
    c.head_rows = 48;
    assert_int_equal(model_build(&m, &c, MODE_TRAIN, DT_F32), ST_OK);
    assert_int_equal(m.head.n, 3);
    expect(&m, COMPONENT_LOGITS, "bf16");
    expect(&m, COMPONENT_LOGIT_GRADIENTS, "bf16");
    expect(&m, COMPONENT_HEAD_NORMS, "bf16");
    expect(&m, COMPONENT_EMBEDDINGS, "bf16");
    int products = 0;
    for (int i = 0; i < m.plan.n_nodes; i++) {
        const Node *node = &m.plan.nodes[i];
        if (node->phase != PHASE_FORWARD || strcmp(node->scope, "lm_head") != 0) continue;
        products += component_dtypes_of_node(&m, node) == COMPONENT_LOGITS;
    }
    assert_int_equal(products, 3); /* of nine */
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_gpt2),
        cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
