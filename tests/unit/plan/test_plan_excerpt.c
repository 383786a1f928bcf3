/* Nodes of a step taken out of it: the same ops on tensors of the same shapes, and the same numbers. */
#include "plan/plan_excerpt.h"
#include "step_harness.h"

typedef struct Excerpt {
    Model model;
    Plan plan;
    int *from; /* of each of its nodes: which node of the model's plan it was */
} Excerpt;

static void take(Excerpt *e, const Config *config, const char *scope)
{
    ASSERT_OK(model_build(&e->model, config, MODE_FWD_BWD, DT_F32));
    const Plan *plan = &e->model.plan;
    bool *wanted = calloc((size_t)plan->n_nodes, sizeof *wanted);
    int n = 0;
    e->from = calloc((size_t)plan->n_nodes, sizeof *e->from);
    assert_true(wanted && e->from);
    for (int i = 0; i < plan->n_nodes; i++) {
        wanted[i] = strcmp(plan->nodes[i].scope, scope) == 0;
        if (wanted[i]) e->from[n++] = i;
    }
    ASSERT_OK(plan_excerpt(&e->plan, plan, wanted));
    assert_true(n > 0);
    assert_int_equal(e->plan.n_nodes, n);
    free(wanted);
}

static void drop(Excerpt *e)
{
    free(e->from);
    plan_free(&e->plan);
    model_free(&e->model);
}

static void same_shape(const Tensor *a, const Tensor *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (!a) return;
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->n_dims, b->n_dims);
    assert_memory_equal(a->dim, b->dim, (size_t)a->n_dims * sizeof *a->dim);
    assert_int_equal(a->ld, b->ld);
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->base == PLAN_NONE, b->base == PLAN_NONE);
}

static void test_shapes(void **state)
{
    (void)state;
    static const char *const scopes[] = {"layer.1/attn/qkv", "layer.0/ffn/w13", "layer.1/ffn/w2",
                                         "layer.0/attn/rope_q"};
    for (int i = 0; i < 8; i++) {
        Config c = small_config();
        Excerpt e;
        c.exec = i % 2 ? EXEC_EAGER : EXEC_FUSED;
        if (i / 2 == 3 && c.exec == EXEC_FUSED) continue; /* RoPE of q and k is one node there */
        take(&e, &c, scopes[i / 2]);
        for (int n = 0; n < e.plan.n_nodes; n++) {
            const Node *got = &e.plan.nodes[n], *want = &e.model.plan.nodes[e.from[n]];
            assert_int_equal(got->op, want->op);
            assert_int_equal(got->phase, PHASE_FORWARD);
            for (int k = 0; k < want->n_out; k++)
                same_shape(plan_out(&e.plan, got, k), plan_out(&e.model.plan, want, k));
            for (int k = 0; k < want->n_in; k++)
                same_shape(plan_in(&e.plan, got, k), plan_in(&e.model.plan, want, k));
        }
        drop(&e);
    }
}

/* The forward product of w2 alone, of numbers given to it. */
static void test_runs(void **state)
{
    (void)state;
    const Config c = small_config();
    Excerpt e;
    HarnessRun run;
    take(&e, &c, "layer.1/ffn/w2");
    const Node *product = &e.plan.nodes[0];
    const int x = plan_in_id(&e.plan, product, 0), w = plan_in_id(&e.plan, product, 1);
    const int y = plan_out_id(&e.plan, product, 0);
    const int64_t width = plan_width(&e.plan.tensors[x]);
    e.plan.tensors[y].keep = true;
    harness_open_on(&run, &e.plan, BACKEND_cpu, "auto", 2);
    float *px = run.session.memory[x], *pw = run.session.memory[w], *py = run.session.memory[y];
    for (int64_t i = 0; i < plan_elements(&e.plan.tensors[x]); i++) px[i] = (float)(i % 5);
    for (int64_t i = 0; i < plan_elements(&e.plan.tensors[w]); i++) pw[i] = (float)(i % 3);
    ASSERT_OK(session_run(&run.session, PHASE_FORWARD));
    float want = 0;
    for (int64_t k = 0; k < width; k++) want += px[width + k] * pw[2 * width + k];
    assert_true(py[plan_width(&e.plan.tensors[y]) + 2] == want);
    harness_close(&run);
    drop(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
