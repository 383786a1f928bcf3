/* What a plan says of a matmul before any memory is there: its cost, its gradient, sizes whose
 * elements are beyond 31 bits; and rows that lie apart, into and out of memory. */
#include "op_harness.h"
#include "plan/op_functions.h"

typedef struct Product {
    Plan plan;
    Builder b;
    int a, w, bias, c;
    Node node;
} Product;

/* c [m, n] = a w^T + bias. */
static Product *product(DType dtype, int64_t m, int64_t n, int64_t k, bool with_bias,
                        bool accumulate)
{
    Product *p = calloc(1, sizeof *p);
    assert_non_null(p);
    builder_init(&p->b, &p->plan);
    p->a = builder_tensor(&p->b, "a", TK_ACTIVATION, dtype, DIMS(m, k));
    p->w = builder_tensor(&p->b, "w", TK_ACTIVATION, dtype, DIMS(n, k));
    p->bias = with_bias ? builder_tensor(&p->b, "bias", TK_ACTIVATION, dtype, DIMS(n)) : PLAN_NONE;
    p->c = builder_tensor(&p->b, "c", TK_ACTIVATION, dtype, DIMS(m, n));
    NodeAttr *attr = builder_node(&p->b, OP_matmul, IDS(p->c),
                                  IDS(p->a, p->w, p->bias, accumulate ? p->c : PLAN_NONE));
    attr->transpose_b = true;
    attr->accumulate = accumulate;
    ASSERT_OK(p->b.status);
    p->node = p->plan.nodes[0];
    return p;
}

static void free_product(Product *p)
{
    builder_free(&p->b);
    plan_free(&p->plan);
    free(p);
}

static void hold_cost(DType dtype, int64_t m, int64_t n, int64_t k, bool with_bias, bool accumulate)
{
    Product *p = product(dtype, m, n, k, with_bias, accumulate);
    const double M = (double)m, N = (double)n, K = (double)k;
    const double elements = M * K + N * K + M * N * (accumulate ? 2 : 1) + (with_bias ? N : 0);
    ASSERT_OK(op_def(OP_matmul)->check(&p->plan, &p->node));
    const OpCost cost = op_cost(&p->plan, &p->node);
    assert_true(cost.flops == 2 * M * N * K);
    assert_true(cost.bytes == elements * (double)plan_dtype_size(dtype));
    free_product(p);
}

/* 8,192 rows of a vocabulary of 151,936 have more bytes than 31 bits count, 16,384 more elements,
 * 65,536 more than 32 bits. Doubles hold all of these exactly. */
static void test_costs(void **state)
{
    (void)state;
    static const int64_t rows[] = {1, 8192, 16384, 65536};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int form = 0; form < 4; form++)
            hold_cost(DT_BF16, rows[i], 151936, 1024, form & 1, form & 2);
    }
}

static void test_sides_beyond_31_bits(void **state)
{
    (void)state;
    Product *p = product(DT_BF16, INT64_C(1) << 31, 8, 8, false, false);
    assert_int_equal(op_def(OP_matmul)->check(&p->plan, &p->node), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "choose a smaller batch or context"));
    free_product(p);
}

/* On a GPU every node of the step at such sizes has an implementation, and memory for all of it. */
static void test_gradients_beyond_31_bits(void **state)
{
    (void)state;
    Product *p = product(DT_BF16, 65536, 151936, 64, true, false);
    Binding binding = {0};
    const int seed = builder_tensor(&p->b, "seed", TK_INPUT, DT_BF16, DIMS(65536, 151936));
    builder_grad_add(&p->b, p->c, seed);
    op_def(OP_matmul)->grad(&p->b, &p->node);
    ASSERT_OK(p->b.status);
    assert_int_equal(p->plan.n_nodes, 4);
    assert_int_equal(p->plan.nodes[1].op, OP_reduce);
    assert_int_equal(p->plan.nodes[1].attr.fn, FN_COL_SUM);
    harness_keep_all(&p->plan);
    ASSERT_OK(binding_make(&binding, &p->plan, BACKEND_cuda, 1, NULL));
    assert_true(mem_plan_total(&binding.mem) > (size_t)2 * 65536 * 151936 * 2);
    binding_free(&binding);
    free_product(p);
}

/* A bias of another dtype than the output is refused by name, not read as another. */
static void test_bias_of_another_dtype_on_a_gpu(void **state)
{
    (void)state;
    OpImpl impl;
    Product *p = product(DT_BF16, 8, 8, 8, true, false);
    ASSERT_OK(op_choose(&p->plan, &p->node, BACKEND_cuda, NULL, &impl));
    p->plan.tensors[p->bias].dtype = DT_F32;
    assert_int_equal(op_choose(&p->plan, &p->node, BACKEND_cuda, NULL, &impl), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "a bias of the output's dtype"));
    ASSERT_OK(op_choose(&p->plan, &p->node, BACKEND_cpu, NULL, &impl));
    free_product(p);
}

/* The host has rows one after the other, whatever their distance on the device. */
static void test_rows_apart_up_and_down(void **state)
{
    (void)state;
    enum { M = 3, N = 5 };
    Product *p = product(DT_F32, M, N, 2, false, false);
    HarnessRun run;
    float numbers[M * N], back[M * N] = {0};
    builder_set_ld(&p->b, p->c, 8);
    harness_open(&run, &p->plan, "reference", 1);
    for (int i = 0; i < M * N; i++) numbers[i] = (float)i;
    ASSERT_OK(session_upload(&run.session, p->c, numbers));
    const float *c = run.session.memory[p->c];
    assert_true(c[8] == numbers[N] && c[2 * 8 + 4] == numbers[2 * N + 4]);
    assert_true(isnan(c[N])); /* poison: nothing was written between rows */
    ASSERT_OK(session_download(&run.session, p->c, back));
    assert_memory_equal(numbers, back, sizeof back);
    harness_close(&run);
    free_product(p);
}

/* The gradient of logits with padded rows has such rows, too, and lies in their memory. */
static void test_padded_logits_in_place(void **state)
{
    (void)state;
    enum { N = 6, V = 101, LD = 104 };
    Product *p = product(DT_F32, N, V, 4, false, false);
    Binding binding = {0};
    const int targets = builder_tensor(&p->b, "#101 targets", TK_INPUT, DT_I32, DIMS(N));
    const int loss = builder_tensor(&p->b, "loss", TK_ACTIVATION, DT_F32, DIMS(1));
    const int lse = builder_tensor(&p->b, "lse", TK_ACTIVATION, DT_F32, DIMS(N));
    const int seed = builder_tensor(&p->b, "seed", TK_INPUT, DT_F32, DIMS(1));
    builder_set_ld(&p->b, p->c, LD);
    builder_node(&p->b, OP_cross_entropy, IDS(loss, lse), IDS(p->c, targets));
    const Node node = p->plan.nodes[1];
    builder_grad_add(&p->b, loss, seed);
    op_def(OP_cross_entropy)->grad(&p->b, &node);
    op_def(OP_matmul)->grad(&p->b, &p->node);
    ASSERT_OK(p->b.status);
    const int dlogits = builder_grad(&p->b, p->c);
    assert_int_equal(p->plan.tensors[dlogits].ld, LD);
    for (int backend = 0; backend < BACKEND_COUNT; backend++) {
        ASSERT_OK(binding_make(&binding, &p->plan, (BackendId)backend, 1, NULL));
        assert_int_equal(binding.mem.alias_of[dlogits], p->c);
        binding_free(&binding);
    }
    free_product(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_sides_beyond_31_bits),
        cmocka_unit_test(test_gradients_beyond_31_bits),
        cmocka_unit_test(test_bias_of_another_dtype_on_a_gpu),
        cmocka_unit_test(test_rows_apart_up_and_down),
        cmocka_unit_test(test_padded_logits_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
