/* Every op's gradient rule, run by the references in float64, against central differences; and every
 * op's decomposition against the op itself, the gradients of its primitives included. What has no rule is
 * reported as skipped. */
#include "op_cases/op_cases.h"
#include "op_harness.h"

/* Elements of each input whose derivative is measured. Under the sanitizers fewer: the numbers are those
 * of the release build, and one run touches all memory. */
#ifdef ROOFSTEP_SANITIZED
enum { SAMPLES = 2 };
#else
enum { SAMPLES = 8 };
#endif

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

/* Gradients are there already; differences run the forward nodes alone. */
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
    harness_run_nodes(&run);
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

/* The same case twice: in `whole` as it is, in `parts` to be decomposed. */
typedef struct Pair {
    Plan whole_plan, parts_plan;
    Builder whole, parts;
} Pair;

typedef void PairCheck(Pair *p, const Node *node, int i);

/* False when there is no case i. */
static bool with_pair(OpKind op, int i, PairCheck *check)
{
    Pair p = {0};
    builder_init(&p.whole, &p.whole_plan);
    builder_init(&p.parts, &p.parts_plan);
    const bool there = op_cases[op](&p.whole, i, DT_F64) && op_cases[op](&p.parts, i, DT_F64);
    if (there) {
        const Node node = p.whole_plan.nodes[p.whole_plan.n_nodes - 1];
        check(&p, &node, i);
    }
    builder_free(&p.whole);
    builder_free(&p.parts);
    plan_free(&p.whole_plan);
    plan_free(&p.parts_plan);
    return there;
}

static void run_pair(Pair *p, HarnessRun *want, HarnessRun *got)
{
    ASSERT_OK(p->whole.status);
    ASSERT_OK(p->parts.status);
    harness_keep_all(&p->whole_plan);
    harness_keep_all(&p->parts_plan);
    harness_open(want, &p->whole_plan, "reference", 1);
    harness_open(got, &p->parts_plan, "reference", 1);
    harness_run_nodes(want);
    harness_run_nodes(got);
}

static void compare_outputs(Pair *p, const Node *node, int i)
{
    HarnessRun want, got;
    decompose_node(&p->parts, p->parts_plan.n_nodes - 1);
    run_pair(p, &want, &got);
    for (int o = 0; o < node->n_out; o++) {
        const int id = plan_out_id(&p->whole_plan, node, o);
        if (id == PLAN_NONE || (op_def(node->op)->auxiliary >> o & 1U)) continue;
        const double error = harness_error(&got, &want, id, id);
        if (!(error <= 1e-12)) {
            fail_msg("%s case %d: primitives differ in output %d by %g", plan_op_name(node->op), i,
                     o, error);
        }
    }
    harness_close(&want);
    harness_close(&got);
}

static void test_decompose(void **state)
{
    const OpKind op = *(const OpKind *)*state;
    int i = 0;
    if (!op_def(op)->decompose) skip(); /* already a primitive */
    while (with_pair(op, i, compare_outputs)) i++;
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

/* Tensors of the case and its seeds have the same numbers in both plans, and so the same values. */
static void compare_gradients(Pair *p, const Node *node, int i)
{
    const Builder *whole = &p->whole, *parts = &p->parts;
    HarnessRun want, got;
    seed_gradients(&p->parts, node);
    decompose_node(&p->parts, p->whole_plan.n_nodes - 1);
    walk_back(&p->parts);
    differentiate(&p->whole, node);
    run_pair(p, &want, &got);
    for (int k = 0; k < node->n_in; k++) {
        const int in = plan_in_id(&p->whole_plan, node, k);
        if (!builder_wants_grad(whole, in) || builder_grad(whole, in) == PLAN_NONE) continue;
        const int grad = builder_grad(parts, in);
        const char *op = plan_op_name(node->op), *name = builder_at(whole, in)->name;
        if (grad == PLAN_NONE) fail_msg("%s case %d: primitives have no d(%s)", op, i, name);
        const double error = harness_error(&got, &want, grad, builder_grad(whole, in));
        if (!(error <= 1e-11))
            fail_msg("%s case %d: primitives differ in d(%s) by %g", op, i, name, error);
    }
    harness_close(&want);
    harness_close(&got);
}

static void test_decompose_grad(void **state)
{
    const OpKind op = *(const OpKind *)*state;
    int i = 0;
    if (!op_def(op)->decompose || !op_def(op)->grad) skip();
    while (with_pair(op, i, compare_gradients)) i++;
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
