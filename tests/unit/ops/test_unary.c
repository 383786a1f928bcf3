/* GELU in a step goes over memory once: h is read and g written; then dg and h are read and dh written. */
#include "config/model_file.h"
#include "model/model.h"
#include "ops/op.h"
#include "plan/op_functions.h"
#include "with_cmocka.h"

static void check_gelu(const char *name, int fn, Precision precision, int layers)
{
    Config c;
    Model model;
    int forward = 0, backward = 0;
    config_defaults(&c);
    c.precision = precision;
    c.exec = EXEC_FUSED;
    c.ctx = 16;
    c.batch = 3;
    assert_int_equal(model_file_load(&c.model, name), ST_OK);
    assert_int_equal(model_build(&model, &c, MODE_TRAIN, DT_F32), ST_OK);
    const double h =
        (double)(c.ctx * c.batch * c.model.d_ff) * (precision == PRECISION_FP32 ? 4 : 2);
    for (int i = 0; i < model.plan.n_nodes; i++) {
        const Node *node = &model.plan.nodes[i];
        if (node->attr.fn != fn || (node->op != OP_unary && node->op != OP_unary_grad)) continue;
        const bool gradient = node->op == OP_unary_grad;
        assert_true(op_cost(&model.plan, node).bytes == (gradient ? 3 : 2) * h);
        *(gradient ? &backward : &forward) += 1;
    }
    assert_int_equal(forward, layers);
    assert_int_equal(backward, layers);
    model_free(&model);
}

static void test_gelu_bytes(void **state)
{
    (void)state;
    check_gelu("gpt2", FN_GELU_TANH, PRECISION_BF16, 12);
    check_gelu("gpt2", FN_GELU_TANH, PRECISION_FP32, 12);
    check_gelu("pythia-160m", FN_GELU_ERF, PRECISION_FP16, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gelu_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
