/* Every implementation of every op on one backend (test_ops [cpu|cuda [all|K/N]]) over the op's own cases,
 * in every precision, against the reference; a second run, on a CPU with other threads where the bits
 * may not depend on them, gives the same bits. A new line in ops.def is tested with no change here.
 * `all`: on a CPU, too, the cases that only a GPU needs. `K/N`: every N-th op, from the K-th on. */
#include "op_cases/op_cases.h"
#include "op_harness.h"
#include "ops/gemm_cpu/microkernel_cpu.h"

static BackendId backend = BACKEND_cpu;

/* The reference rounds its double result once. fp32 sums of a thousand terms stay within 1e-5; a
 * 16-bit result may round the other way, which in a tensor of one element is a whole ulp. */
static double bound(DType dtype)
{
    switch (dtype) {
    case DT_BF16:
        return 0x1p-8;
    case DT_F16:
        return 0x1p-11;
    case DT_F64:
        return 1e-12;
    default:
        return 1e-5;
    }
}

/* Kernels on tensor cores, and on processors that multiply bf16, round the weights and their gradients to 16
 * bits between the products of attention's backward pass: once more than the result. */
static double rounds(OpKind op, DType dtype)
{
    const bool narrow = backend == BACKEND_cpu ? dtype == DT_BF16 && microkernel_find(DT_BF16)
                                               : plan_dtype_size(dtype) == 2;
    return narrow && op == OP_attention_grad ? 2 : 1;
}

/* What an op makes and quantizes is rounded to bf16 between: where that goes the other way, amax moves by an
 * ulp of it, and one 8-bit number of some hundreds by a step of its format, an eighth or a quarter. */
static double bound_quantized(const Tensor *t)
{
    if (strncmp(t->name, "scale", 5) == 0) return 0; /* from sizes that are given */
    return plan_dtype_size(t->dtype) == 1 ? 0x1p-5 : 0x1p-8;
}

/* Tensor cores have fewer bits than fp32 for a sum of 8-bit products. */
static double bound_of(OpKind op, const Tensor *t)
{
    const DType dtype = t->dtype;
    if (op == OP_swiglu_fp8 || op == OP_swiglu_fp8_grad) return bound_quantized(t);
    const bool narrow = backend != BACKEND_cpu && op == OP_scaled_matmul;
    return fmax(bound(dtype) * rounds(op, dtype), narrow ? 0x1p-8 : 0);
}

static bool is_output(const Plan *plan, int id)
{
    for (int n = 0; n < plan->n_nodes; n++) {
        for (int i = 0; i < plan->nodes[n].n_out; i++) {
            if (plan_out_id(plan, &plan->nodes[n], i) == id) return true;
        }
    }
    return false;
}

static void compare(const Plan *plan, const HarnessRun *got, const HarnessRun *want, OpKind op,
                    int i, const char *impl)
{
    for (int id = 0; id < plan->n_tensors; id++) {
        const Tensor *t = &plan->tensors[id];
        if (!is_output(plan, id)) continue;
        const double error = harness_error(got, want, id, id);
        if (!(error <= bound_of(op, t))) {
            fail_msg("%s case %d, %s, '%s' in %s: relative error %g", plan_op_name(op), i, impl,
                     t->name, plan_dtype_name(t->dtype), error);
        }
    }
}

static void same_bits(const Plan *plan, const HarnessRun *a, const HarnessRun *b, OpKind op, int i)
{
    for (int id = 0; id < plan->n_tensors; id++) {
        const Tensor *t = &plan->tensors[id];
        if (t->base != PLAN_NONE || !is_output(plan, id)) continue;
        if (memcmp(harness_host(a, id), harness_host(b, id), plan_bytes(t)) != 0) {
            fail_msg("%s case %d: '%s' differs from run to run", plan_op_name(op), i, t->name);
        }
    }
}

/* An implementation may decline a case, and so may the backend the nodes before it. */
static bool accepted(const Plan *plan, OpKind op, const char *impl)
{
    for (int n = 0; n < plan->n_nodes; n++) {
        OpImpl chosen;
        const Node *node = &plan->nodes[n];
        if (op_choose(plan, node, backend, node->op == op ? impl : NULL, &chosen) != ST_OK)
            return false;
    }
    return true;
}

static void run_case(const Plan *plan, const HarnessRun *want, OpKind op, int i,
                     const OpImpl *implementation)
{
    const char *impl = implementation->name;
    enum { OTHER_THREADS = 3 };
    HarnessRun got, again;
    harness_open_on(&got, plan, backend, impl, 1);
    harness_open_on(&again, plan, backend, impl, OTHER_THREADS);
    harness_run_nodes(&got);
    harness_run_nodes(&again);
    compare(plan, &got, want, op, i, impl);
    if (!implementation->nondeterministic) same_bits(plan, &got, &again, op, i);
    harness_close(&got);
    harness_close(&again);
}

/* With memory reused wherever the plan allows, what is wanted at the end is still right. */
static void run_aliased(Plan *plan, const HarnessRun *want, OpKind op, int i, const char *impl)
{
    HarnessRun got;
    const Node *last = &plan->nodes[plan->n_nodes - 1];
    for (int id = 0; id < plan->n_tensors; id++) plan->tensors[id].keep = false;
    for (int o = 0; o < last->n_out; o++) {
        const int id = plan_out_id(plan, last, o);
        if (id != PLAN_NONE) plan->tensors[plan_storage(plan, id)].keep = true;
    }
    harness_open_on(&got, plan, backend, impl, 2);
    harness_run_nodes(&got);
    for (int o = 0; o < last->n_out; o++) {
        const int id = plan_out_id(plan, last, o);
        if (id == PLAN_NONE) continue;
        const double error = harness_error(&got, want, id, id);
        if (!(error <= bound_of(op, &plan->tensors[id]))) {
            fail_msg("%s case %d, %s in place: relative error %g", plan_op_name(op), i, impl,
                     error);
        }
    }
    harness_close(&got);
}

/* Every implementation that takes the case; ran[] counts for each. The reference, by far the slowest, runs
 * once for all. */
static void run_impls(Plan *plan, OpKind op, int i, int ran[])
{
    const OpImpl *impls = op_impls(op, backend);
    HarnessRun want;
    bool made = false;
    for (int k = 0; impls[k].name; k++) {
        if (!accepted(plan, op, impls[k].name)) continue;
        harness_keep_all(plan);
        if (!made) {
            harness_open(&want, plan, "reference", 1);
            harness_run_nodes(&want);
            made = true;
        }
        run_case(plan, &want, op, i, &impls[k]);
        run_aliased(plan, &want, op, i, impls[k].name);
        ran[k]++;
    }
    if (made) harness_close(&want);
}

/* False when there is no such case. */
static bool one_case(OpKind op, int i, DType act, int ran[])
{
    Plan plan;
    Builder b;
    plan = (Plan){0};
    builder_init(&b, &plan);
    const bool there = op_cases[op](&b, i, act);
    ASSERT_OK(b.status);
    if (there) run_impls(&plan, op, i, ran);
    builder_free(&b);
    plan_free(&plan);
    return there;
}

static void test_op(void **state)
{
    const OpKind op = *(const OpKind *)*state;
    static const DType acts[] = {DT_F32, DT_BF16, DT_F16, DT_F64};
    const OpImpl *impls = op_impls(op, backend);
    enum { MOST_IMPLS = 16 };
    int ran[MOST_IMPLS] = {0}, n = 0;
    while (impls[n].name) n++;
    assert_in_range(n, 0, MOST_IMPLS);
    for (size_t a = 0; a < sizeof acts / sizeof *acts; a++) {
        for (int i = 0; one_case(op, i, acts[a], ran); i++) continue;
    }
    for (int k = 0; k < n; k++) {
        if (!impls[k].run && !impls[k].rows)
            skip(); /* it has no kernel there yet, and declined every case */
        if (ran[k] == 0) fail_msg("%s: %s took none of the cases", plan_op_name(op), impls[k].name);
    }
}

int main(int argc, char **argv)
{
    static OpKind kinds[OP_COUNT];
    struct CMUnitTest tests[OP_COUNT];
    int first = 1, step = 1;
    size_t n = 0;
    if (argc > 1) backend = harness_backend(argv[1]);
    op_cases_gpu = backend != BACKEND_cpu || (argc > 2 && strcmp(argv[2], "all") == 0);
    if (argc > 2) (void)sscanf(argv[2], "%d/%d", &first, &step);
    for (int op = first - 1; op < OP_COUNT; op += step) {
        kinds[op] = (OpKind)op;
        tests[n++] = (struct CMUnitTest){plan_op_name((OpKind)op), test_op, NULL, NULL, &kinds[op]};
    }
    return _cmocka_run_group_tests("ops", tests, n, NULL, NULL);
}
