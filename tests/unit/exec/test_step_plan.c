/* Who computes the products of linear layers, as --blas asks, and those of flash attention. */
#include "exec/step_plan.h"
#include "ops/cpu/matmul_cpu.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/microkernel_cpu.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every node of `op` is bound to `impl` and its products are computed by what `by` begins with. */
static void expect_of(OpKind op, Blas blas, Precision precision, const char *impl, const char *by)
{
    Config config;
    Model model;
    Binding binding;
    config_defaults(&config);
    config.blas = blas;
    config.precision = precision;
    assert_int_equal(step_plan_make(&model, &binding, &config, MODE_TRAIN, BACKEND_cpu, 0, 2),
                     ST_OK);
    int products = 0;
    for (int i = 0; i < model.plan.n_nodes; i++) {
        const Node *node = &model.plan.nodes[i];
        Text text = {0};
        if (node->op != op) continue;
        assert_string_equal(binding.impls[i].name, impl);
        matmul_by(&model.plan, node, &binding.impls[i], &text);
        if (strncmp(text_str(&text), by, strlen(by)) != 0) {
            fail_msg("%s: by %s instead of %s", node->scope, text_str(&text), by);
        }
        text_free(&text);
        products++;
    }
    assert_true(products > 0);
    binding_free(&binding);
    model_free(&model);
}

static void expect(Blas blas, Precision precision, const char *impl, const char *by)
{
    expect_of(OP_matmul, blas, precision, impl, by);
}

static void hide(const char *words)
{
    assert_int_equal(setenv("ROOFSTEP_CPU_HIDE", words, 1), 0);
}

static void test_asked_for(void **state)
{
    (void)state;
    hide("all");
    expect(BLAS_OWN, PRECISION_FP32, "own", "own plain");
    expect(BLAS_OWN, PRECISION_BF16, "own", "own plain");
    hide("");
    expect(BLAS_OWN, PRECISION_FP32, "own", "own ");
}

static void test_system(void **state)
{
    (void)state;
    hide("");
    expect(BLAS_SYSTEM, PRECISION_FP32, "blas", blas_cpu_name());
    expect(BLAS_SYSTEM, PRECISION_BF16, "blas", blas_cpu_name());
}

typedef struct By {
    char s[32];
} By;

static By own(const Microkernel *kernel)
{
    By by;
    snprintf(by.s, sizeof by.s, "own %s", kernel->name);
    return by;
}

/* Products are ours where there is more than plain C. */
static void test_auto(void **state)
{
    (void)state;
    hide("all");
    expect(BLAS_AUTO, PRECISION_BF16, "auto", blas_cpu_name());
    expect(BLAS_AUTO, PRECISION_FP32, "auto", blas_cpu_name());
    hide("");
    const Microkernel *f32 = microkernel_find(DT_F32), *f16 = microkernel_find(DT_F16),
                      *bf16 = microkernel_find(DT_BF16);
    if (f32 == &microkernel_plain) skip();
    expect(BLAS_AUTO, PRECISION_FP32, "auto", own(f32).s);
    expect(BLAS_AUTO, PRECISION_FP16, "auto", own(f16 ? f16 : f32).s);
    expect(BLAS_AUTO, PRECISION_BF16, "auto", own(bf16 ? bf16 : f32).s);
}

/* It widens fp16, whatever the processor has for that. */
static void test_flash(void **state)
{
    (void)state;
    hide("");
    const Microkernel *f32 = microkernel_find(DT_F32), *bf16 = microkernel_find(DT_BF16);
    expect_of(OP_attention, BLAS_AUTO, PRECISION_FP32, "flash", own(f32).s);
    expect_of(OP_attention, BLAS_AUTO, PRECISION_FP16, "flash", own(f32).s);
    expect_of(OP_attention, BLAS_AUTO, PRECISION_BF16, "flash", own(bf16 ? bf16 : f32).s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_asked_for),
                                       cmocka_unit_test(test_system), cmocka_unit_test(test_auto),
                                       cmocka_unit_test(test_flash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
