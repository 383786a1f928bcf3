/* Every op's gradient rule, run by the references in float64, against central differences; and every
 * op's decomposition against the op itself, the gradients of its primitives included. What has no rule is
 * reported as skipped. */
#include "op_cases/op_cases.h"
#include "op_harness.h"

enum { SAMPLES = 8 }; /* elements of each input whose derivative is measured */

static bool carries_gradient(const OpDef *def, const Plan *plan, const Node *node, int out)
{
    const Tensor *t = plan_out(plan, node, out);
    return t && t->dtype == DT_F64 && !(def->auxiliary >> out & 1U);
}

/* d(output) is a tensor of random numbers, for each output. */
static void seed_gradients(Builder *b, const Node *node)
{
    const OpDef *def = op_def(node->op);
    for (int o = 0; o < node->n_out; o++) {
        if (!carries_gradient(def, b->plan, node, o)) continue;
        const int id = plan_out_id(b->plan, node, o);
        const Tensor t = *builder_at(b, id);
        builder_grad_add(b, id, builder_tensor(b, "seed", TK_INPUT, DT_F64, t.n_dims, t.dim));
    }
}

/* Appends the gradient nodes. */
static void differentiate(Builder *b, const Node *node)
{
    seed_gradients(b, node);
    b->phase = PHASE_BACKWARD;
    op_def(node->op)->grad(b, node);
}

/* sum over outputs of d(output) * output, after the forward nodes have run. */
static double objective(HarnessRun *run, const Builder *b, const Node *node)
{
    double sum = 0;
    ASSERT_OK(session_run(&run->session, PHASE_FORWARD));
    for (int o = 0; o < node->n_out; o++) {
        if (!carries_gradient(op_def(node->op), b->plan, node, o)) continue;
        const int id = plan_out_id(b->plan, node, o), seed = builder_grad(b, id);
        for (int64_t i = 0; i < plan_elements(builder_at(b, id)); i++) {
            sum += harness_get(run, id, i) * harness_get(run, seed, i);
        }
    }
    return sum;
}

static void check_input(HarnessRun *run, const Builder *b, const Node *node, int in, int i)
{
    const int grad = builder_grad(b, in);
    const Tensor *t = builder_at(b, in);
    const int64_t n = plan_elements(t);
    double *data = run->session.memory[in];
    for (int k = 0; k < SAMPLES && k < n; k++) {
        const int64_t e = n <= SAMPLES ? k : (int64_t)(harness_uniform(k, i) * (double)n);
        const int64_t at = e / plan_width(t) * t->ld + e % plan_width(t);
        const double x = data[at], h = 1e-5;
        harness_run_nodes(run);
        const double analytic = harness_get(run, grad, e);
        data[at] = x + h;
        const double up = objective(run, b, node);
        data[at] = x - h;
        const double down = objective(run, b, node);
        data[at] = x;
        const double numeric = (up - down) / (2 * h);
        if (!(fabs(analytic - numeric) <= 1e-7 * (1 + fabs(numeric)))) {
            fail_msg("%s case %d: d(%s)[%lld] is %.12g, differences give %.12g",
                     plan_op_name(node->op), i, t->name, (long long)e, analytic, numeric);
        }
    }
}

static void check_gradients(Builder *b, int i)
{
    const Node node = b->plan->nodes[b->plan->n_nodes - 1];
    HarnessRun run;
    differentiate(b, &node);
    if (node.attr.accumulate) { /* in place: refused, not wrong */
        assert_int_equal(b->status, ST_UNSUPPORTED);
        return;
    }
    ASSERT_OK(b->status);
    harness_keep_all(b->plan);
    harness_open(&run, b->plan, "reference", 1);
    int checked = 0;
    for (int k = 0; k < node.n_in; k++) {
        const int in = plan_in_id(b->plan, &node, k);
        if (in == PLAN_NONE || builder_at(b, in)->dtype != DT_F64) continue;
        if (!builder_wants_grad(b, in) || builder_grad(b, in) == PLAN_NONE) continue;
        check_input(&run, b, &node, in, i);
        checked++;
    }
    harness_close(&run);
    if (!checked && strcmp(plan_op_name(node.op), "reduce") != 0) {
        fail_msg("%s case %d: no gradient was checked", plan_op_name(node.op), i);
    }
}

static bool gradient_case(OpKind op, int i)
{
    Plan plan;
    Builder b;
    plan = (Plan){0};
    builder_init(&b, &plan);
    const bool there = op_cases[op](&b, i, DT_F64);
    ASSERT_OK(b.status);
    if (there) check_gradients(&b, i);
    builder_free(&b);
    plan_free(&plan);
    return there;
}

static void test_gradient(void **state)
{
    const OpKind op = *(const OpKind *)*state;
    int i = 0;
    if (!op_def(op)->grad) skip(); /* no gradient rule: not passed, skipped */
    while (gradient_case(op, i)) i++;
    assert_true(i > 0);
}

/* Node `n` of the plan, replaced by its primitives; tensors keep their numbers. Nodes after it only
 * seed gradients. */
static void decompose_node(Builder *b, int n)
{
    Node after[8];
    const Node node = b->plan->nodes[n];
    const int n_after = b->plan->n_nodes - n - 1;
    assert_in_range(n_after, 0, sizeof after / sizeof *after);
    memcpy(after, b->plan->nodes + n + 1, (size_t)n_after * sizeof *after);
    b->plan->n_nodes = n;
    op_def(node.op)->decompose(b, &node);
    for (int i = 0; i < n_after; i++) ASSERT_OK(plan_append_node(b->plan, &after[i]));
}

static bool decompose_case(OpKind op, int i)
{
    Plan whole, parts;
    Builder b, c;
    whole = (Plan){0};
    parts = (Plan){0};
    builder_init(&b, &whole);
    builder_init(&c, &parts);
    const bool there = op_cases[op](&b, i, DT_F64) && op_cases[op](&c, i, DT_F64);
    if (there) {
        HarnessRun want, got;
        const Node node = whole.nodes[whole.n_nodes - 1];
        decompose_node(&c, parts.n_nodes - 1);
        ASSERT_OK(c.status);
        harness_keep_all(&whole);
        harness_keep_all(&parts);
        harness_open(&want, &whole, "reference", 1);
        harness_open(&got, &parts, "reference", 1);
        harness_run_nodes(&want);
        harness_run_nodes(&got);
        for (int o = 0; o < node.n_out; o++) {
            const int id = plan_out_id(&whole, &node, o);
            if (id == PLAN_NONE || (op_def(op)->auxiliary >> o & 1U)) continue;
            const double error = harness_error(&got, &want, id, id);
            if (!(error <= 1e-12)) {
                fail_msg("%s case %d: primitives differ in output %d by %g", plan_op_name(op), i, o,
                         error);
            }
        }
        harness_close(&want);
        harness_close(&got);
    }
    builder_free(&b);
    builder_free(&c);
    plan_free(&whole);
    plan_free(&parts);
    return there;
}

static void test_decompose(void **state)
{
    const OpKind op = *(const OpKind *)*state;
    int i = 0;
    if (!op_def(op)->decompose) skip(); /* already a primitive */
    while (decompose_case(op, i)) i++;
    assert_true(i > 0);
}

/* The gradients of every forward node, from the last to the first. */
static void walk_back(Builder *b)
{
    b->phase = PHASE_BACKWARD;
    for (int n = b->plan->n_nodes; n-- > 0 && b->status == ST_OK;) {
        const Node node = b->plan->nodes[n];
        bool reached = false;
        for (int o = 0; o < node.n_out; o++)
            reached = reached || builder_grad(b, plan_out_id(b->plan, &node, o)) != PLAN_NONE;
        if (reached && op_def(node.op)->grad) op_def(node.op)->grad(b, &node);
    }
}

static void compare_gradients(const Builder *whole, const Builder *parts, const Node *node, int i)
{
    HarnessRun want, got;
    harness_keep_all(whole->plan);
    harness_keep_all(parts->plan);
    harness_open(&want, whole->plan, "reference", 1);
    harness_open(&got, parts->plan, "reference", 1);
    harness_run_nodes(&want);
    harness_run_nodes(&got);
    for (int k = 0; k < node->n_in; k++) {
        const int in = plan_in_id(whole->plan, node, k);
        if (!builder_wants_grad(whole, in) || builder_grad(whole, in) == PLAN_NONE) continue;
        if (builder_grad(parts, in) == PLAN_NONE)
            fail_msg("%s case %d: primitives have no d(%s)", plan_op_name(node->op), i,
                     builder_at(parts, in)->name);
        const double error =
            harness_error(&got, &want, builder_grad(parts, in), builder_grad(whole, in));
        if (!(error <= 1e-11))
            fail_msg("%s case %d: primitives differ in d(%s) by %g", plan_op_name(node->op), i,
                     builder_at(whole, in)->name, error);
    }
    harness_close(&want);
    harness_close(&got);
}

/* Tensors of the case and its seeds have the same numbers in both plans, and so the same values. */
static bool decompose_grad_case(OpKind op, int i)
{
    Plan whole, parts;
    Builder b, c;
    whole = (Plan){0};
    parts = (Plan){0};
    builder_init(&b, &whole);
    builder_init(&c, &parts);
    const bool there = op_cases[op](&b, i, DT_F64) && op_cases[op](&c, i, DT_F64);
    if (there) {
        const Node node = whole.nodes[whole.n_nodes - 1];
        seed_gradients(&c, &node);
        decompose_node(&c, whole.n_nodes - 1);
        walk_back(&c);
        ASSERT_OK(c.status);
        differentiate(&b, &node);
        ASSERT_OK(b.status);
        compare_gradients(&b, &c, &node, i);
    }
    builder_free(&b);
    builder_free(&c);
    plan_free(&whole);
    plan_free(&parts);
    return there;
}

static void test_decompose_grad(void **state)
{
    const OpKind op = *(const OpKind *)*state;
    int i = 0;
    if (!op_def(op)->decompose || !op_def(op)->grad) skip();
    while (decompose_grad_case(op, i)) i++;
    assert_true(i > 0);
}

int main(void)
{
    static OpKind kinds[OP_COUNT];
    static char names[2][OP_COUNT][64];
    struct CMUnitTest tests[3 * OP_COUNT];
    for (int op = 0; op < OP_COUNT; op++) {
        const char *name = plan_op_name((OpKind)op);
        kinds[op] = (OpKind)op;
        snprintf(names[0][op], sizeof names[0][op], "%s as primitives", name);
        snprintf(names[1][op], sizeof names[1][op], "gradients of the primitives of %s", name);
        tests[op] = (struct CMUnitTest){name, test_gradient, NULL, NULL, &kinds[op]};
        tests[OP_COUNT + op] =
            (struct CMUnitTest){names[0][op], test_decompose, NULL, NULL, &kinds[op]};
        tests[2 * OP_COUNT + op] =
            (struct CMUnitTest){names[1][op], test_decompose_grad, NULL, NULL, &kinds[op]};
    }
    return _cmocka_run_group_tests("gradients and decompositions", tests, 3 * OP_COUNT, NULL, NULL);
}
