/* A parameter that is used more than once: its gradient is the sum over its uses, and lies where
 * the optimizer reads it.
 *
 * The model: x = table[tokens]; a few blocks of [a, c] = x w^T, x = a c + a, with one w for all of
 * them; logits = x table^T. Untied, every use has a parameter of its own with the same values. */
#include "model/stages.h"
#include "model/transform_recompute.h"
#include "plan/op_functions.h"
#include "step_harness.h"

enum { BLOCKS = 3, N = 12, C = 6, V = 17 };

typedef struct Shared {
    Step step;
    int table, head, w[BLOCKS]; /* parameters, by their number in the model */
} Shared;

static int linear(Builder *b, const Model *m, const char *name, int x, int w)
{
    int in[] = {x, w};
    for (int i = 0; i < 2; i++) {
        if (builder_dtype(b, in[i]) == m->act) continue;
        const int cast = builder_like(b, "cast", in[i], m->act);
        builder_node(b, OP_cast, IDS(cast), IDS(in[i]));
        in[i] = cast;
    }
    const int y = builder_tensor(b, name, TK_ACTIVATION, m->act, DIMS(N, builder_at(b, w)->dim[0]));
    builder_node(b, OP_matmul, IDS(y), IDS(in[0], in[1]))->transpose_b = true;
    return y;
}

static int block(Builder *b, Model *m, int layer, int x, int w)
{
    builder_scope(b, layer, "block");
    m->stream[layer] = x;
    const int h = linear(b, m, "h", x, w);
    const int a = builder_view(b, "a", h, 0, DIMS(N, C), 2 * C);
    const int c = builder_view(b, "c", h, C, DIMS(N, C), 2 * C);
    const int product = builder_tensor(b, "product", TK_ACTIVATION, m->act, DIMS(N, C));
    const int y = builder_like(b, "y", product, m->act);
    builder_node(b, OP_binary, IDS(product), IDS(a, c))->fn = FN_MUL;
    builder_node(b, OP_binary, IDS(y), IDS(product, a))->fn = FN_ADD;
    return y;
}

static int add_param(Builder *b, Model *m, const char *name, int64_t rows, int *number)
{
    *number = m->n_params;
    params_group(b, m, name, rows * C, true);
    return params_add(b, m, name, rows, C, INIT_NORMAL, 1);
}

static void forward(Builder *b, Shared *s, bool tied)
{
    Model *m = &s->step.model;
    int w[BLOCKS];
    m->tokens = builder_tensor(b, "#17tokens", TK_INPUT, DT_I32, DIMS(N));
    m->targets = builder_tensor(b, "#17targets", TK_INPUT, DT_I32, DIMS(N));
    m->state = builder_tensor(b, "state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    const int table = add_param(b, m, "table", V, &s->table);
    s->head = s->table;
    const int head = tied ? table : add_param(b, m, "head", V, &s->head);
    for (int l = 0; l < BLOCKS; l++) {
        s->w[l] = s->w[0];
        w[l] = tied && l > 0 ? w[0] : add_param(b, m, "w", 2 * C, &s->w[l]);
    }
    int x = builder_tensor(b, "x", TK_ACTIVATION, builder_dtype(b, table), DIMS(N, C));
    builder_node(b, OP_embedding, IDS(x), IDS(table, m->tokens));
    for (int l = 0; l < BLOCKS; l++) x = block(b, m, l, x, w[l]);
    builder_scope(b, PLAN_NONE, "loss");
    m->logits = linear(b, m, "logits", x, head);
    m->loss = builder_tensor(b, "loss", TK_ACTIVATION, m->full_dtype, DIMS(1));
    const int lse = builder_tensor(b, "lse", TK_ACTIVATION, m->full_dtype, DIMS(N, 1));
    builder_node(b, OP_cross_entropy, IDS(m->loss, lse), IDS(m->logits, m->targets));
}

static void build(Shared *s, bool tied, DType full_dtype, DType act, bool eager, int recompute)
{
    Builder b;
    Model *m = &s->step.model;
    *m =
        (Model){.config = small_config(), .mode = MODE_TRAIN, .full_dtype = full_dtype, .act = act};
    m->eager = eager;
    m->config.model.num_layers = BLOCKS;
    m->config.recompute = recompute;
    m->stream = calloc(BLOCKS + 1, sizeof *m->stream);
    m->rope_cos = PLAN_NONE;
    builder_init(&b, &m->plan);
    forward(&b, s, tied);
    transform_decompose(&b, m);
    backward_build(&b, m);
    transform_recompute(&b, m);
    optimizer_build(&b, m);
    ASSERT_OK(b.status);
    builder_free(&b);
    harness_keep_all(&m->plan);
}

/* The same values for every parameter of the same shape. */
static void set_params(Shared *s)
{
    const Model *m = &s->step.model;
    for (int p = 0; p < m->n_params; p++) {
        const Tensor *t = &m->plan.tensors[m->params[p].tensor];
        void *to = harness_host(&s->step.run, m->params[p].tensor);
        for (int64_t i = 0; i < plan_elements(t); i++) {
            const double x = 2 * harness_uniform((int)plan_rows(t), i) - 1;
            element_set(to, t->dtype, i, x);
            if (t->dtype != DT_LOW16) continue;
            uint16_t *upper = harness_host(&s->step.run, t->upper);
            upper[i] = float16_upper((float)x);
        }
    }
}

static void open_shared(Shared *s, bool tied, DType full_dtype, DType act, bool eager,
                        int recompute)
{
    build(s, tied, full_dtype, act, eager, recompute);
    harness_open(&s->step.run, &s->step.model.plan, NULL, 1);
    set_params(s);
    for (int g = 0; g < s->step.model.n_groups; g++) {
        const int moments[] = {s->step.model.groups[g].m, s->step.model.groups[g].v};
        for (int k = 0; k < 2; k++)
            memset(harness_host(&s->step.run, moments[k]), 0,
                   plan_bytes(&s->step.model.plan.tensors[moments[k]]));
    }
    double *state = harness_host(&s->step.run, s->step.model.state);
    memset(state, 0, STATE_COUNT * sizeof *state);
    state[STATE_LOSS_SCALE] = 1;
    state[STATE_LR] = 1e-3;
    forward_backward(&s->step);
}

static double gradient(const Shared *s, int param, int64_t i)
{
    return harness_get(&s->step.run, s->step.model.params[param].grad, i);
}

/* ---- against the sum of untied gradients ---- */

/* Adds the distance and the size of one parameter's gradient, and of Adam's m = (1 - beta1) g after
 * a step. */
static void compare(const Shared *tied, const Shared *apart, int param, const int *uses, int n_uses,
                    double error[2])
{
    const Model *m = &tied->step.model;
    const int64_t n = plan_elements(&m->plan.tensors[m->params[param].tensor]);
    double off = 0, moment_off = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int u = 0; u < n_uses; u++) sum += gradient(apart, uses[u], i);
        const double d = gradient(tied, param, i) - sum;
        const double moment = harness_get(&tied->step.run, m->groups[param].m, i) / 0.1 - sum;
        off += d * d;
        moment_off += moment * moment;
        size += sum * sum;
    }
    assert_true(size > 1e-6);
    error[0] = sqrt(off / size);
    error[1] = sqrt(moment_off / size);
}

static void check_sum(DType act, bool eager, int recompute, double bound)
{
    Shared tied, apart;
    double error[2];
    open_shared(&tied, true, DT_F32, act, eager, recompute);
    open_shared(&apart, false, DT_F32, act, eager, recompute);
    assert_int_equal(tied.step.model.n_params, 2);
    assert_int_equal(apart.step.model.n_params, 2 + BLOCKS);
    run_phase(&tied.step, PHASE_OPTIMIZER);
    const int tables[] = {apart.table, apart.head};
    for (int k = 0; k < 2; k++) {
        if (k == 0) {
            compare(&tied, &apart, tied.table, tables, 2, error);
        } else {
            compare(&tied, &apart, tied.w[0], apart.w, BLOCKS, error);
        }
        if (!(error[0] < bound && error[1] < bound))
            fail_msg("%s %s recompute %d, %s: gradient off by %g, m by %g", plan_dtype_name(act),
                     eager ? "eager" : "fused", recompute, k ? "w" : "table", error[0], error[1]);
    }
    close_step(&tied.step);
    close_step(&apart.step);
}

static void test_sum_of_uses(void **state)
{
    (void)state;
    for (int recompute = 0; recompute < 3; recompute++) {
        for (int eager = 0; eager < 2; eager++) {
            check_sum(DT_F32, eager, recompute, 1e-5);
            /* every contribution and every partial sum is rounded to 8 bits */
            check_sum(DT_BF16, eager, recompute, 0.02);
        }
    }
}

/* ---- against differences of the loss ---- */

static double loss_with(Shared *s, int param, int64_t i, double change)
{
    double *at = (double *)harness_host(&s->step.run, s->step.model.params[param].tensor) + i;
    const double before = *at;
    *at = before + change;
    const double loss = loss_of(&s->step);
    *at = before;
    return loss;
}

static void test_differences(void **state)
{
    (void)state;
    for (int eager = 0; eager < 2; eager++) {
        Shared s;
        open_shared(&s, true, DT_F64, DT_F64, eager, 1);
        const int params[] = {s.table, s.w[0]};
        for (int p = 0; p < 2; p++) {
            for (int64_t i = 0; i < 2 * C * C; i++) {
                const double want =
                    (loss_with(&s, params[p], i, 1e-5) - loss_with(&s, params[p], i, -1e-5)) / 2e-5;
                const double got = gradient(&s, params[p], i);
                if (!(fabs(got - want) < 1e-8 + 1e-6 * fabs(want)))
                    fail_msg("eager %d, param %d [%d]: %.12g, not %.12g", eager, p, (int)i, got,
                             want);
            }
        }
        close_step(&s.step);
    }
}

/* ---- two readers of one parameter in different dtypes, one gradient ---- */

/* The embedding reads the parameter, a product its 16-bit copy. */
typedef struct TwoReaders {
    Plan plan;
    int ids, x, y, grad; /* x: what the product multiplies with the copy */
    int da, dc;          /* gradients of the embedding's rows and of the product */
} TwoReaders;

static void build_two_readers(TwoReaders *r, DType copy_dtype, DType grad_dtype, bool product_first)
{
    Builder b;
    *r = (TwoReaders){.plan = {0}};
    builder_init(&b, &r->plan);
    const int table = builder_tensor(&b, "table", TK_PARAM, DT_F32, DIMS(V, C));
    const int copy = builder_tensor(&b, "copy", TK_WEIGHT_COPY, copy_dtype, DIMS(V, C));
    r->grad = builder_tensor(&b, "grad", TK_GRAD, grad_dtype, DIMS(V, C));
    builder_grad_buffer(&b, table, builder_view(&b, "grad", r->grad, 0, DIMS(V, C), C));
    builder_grad_buffer(&b, copy, builder_view(&b, "grad", r->grad, 0, DIMS(V, C), C));
    r->ids = builder_tensor(&b, "#17ids", TK_INPUT, DT_I32, DIMS(N));
    r->x = builder_tensor(&b, "x", TK_INPUT, copy_dtype, DIMS(N, C));
    const int a = builder_tensor(&b, "a", TK_ACTIVATION, DT_F32, DIMS(N, C));
    const int c = builder_tensor(&b, "c", TK_ACTIVATION, copy_dtype, DIMS(N, V));
    builder_node(&b, OP_embedding, IDS(a), IDS(table, r->ids));
    builder_node(&b, OP_matmul, IDS(c), IDS(r->x, copy))->transpose_b = true;
    r->da = builder_tensor(&b, "da", TK_INPUT, DT_F32, DIMS(N, C));
    r->dc = builder_tensor(&b, "dc", TK_INPUT, copy_dtype, DIMS(N, V));
    builder_grad_add(&b, a, r->da);
    builder_grad_add(&b, c, r->dc);
    b.phase = PHASE_BACKWARD;
    for (int k = 0; k < 2; k++) {
        const Node node = r->plan.nodes[product_first ? 1 - k : k];
        op_def(node.op)->grad(&b, &node);
    }
    ASSERT_OK(b.status);
    assert_int_equal(plan_storage(&r->plan, builder_grad(&b, table)), r->grad);
    assert_int_equal(plan_storage(&r->plan, builder_grad(&b, copy)), r->grad);
    builder_free(&b);
    harness_keep_all(&r->plan);
}

/* Of element (v, j), from its two sums in double. */
static double want_gradient(const HarnessRun *run, const TwoReaders *r, int v, int j)
{
    double sum = 0;
    for (int n = 0; n < N; n++) {
        if (harness_get(run, r->ids, n) == v) sum += harness_get(run, r->da, n * C + j);
        sum += harness_get(run, r->dc, n * V + v) * harness_get(run, r->x, n * C + j);
    }
    return sum;
}

static void check_two_readers(DType copy_dtype, DType grad_dtype, bool product_first)
{
    TwoReaders r;
    HarnessRun run;
    build_two_readers(&r, copy_dtype, grad_dtype, product_first);
    harness_open(&run, &r.plan, NULL, 2);
    harness_run_nodes(&run);
    double off = 0, size = 0;
    for (int i = 0; i < V * C; i++) {
        const double want = want_gradient(&run, &r, i / C, i % C);
        off += pow(harness_get(&run, r.grad, i) - want, 2);
        size += want * want;
    }
    /* in 16 bit the product is rounded, and so is the sum */
    const double bound = copy_dtype == DT_F32 ? 1e-5 : 2 * 0x1p-8;
    if (!(sqrt(off / size) < bound))
        fail_msg("copy %s, gradient %s, %s first: off by %g", plan_dtype_name(copy_dtype),
                 plan_dtype_name(grad_dtype), product_first ? "product" : "embedding",
                 sqrt(off / size));
    harness_close(&run);
    plan_free(&r.plan);
}

static void test_two_readers(void **state)
{
    (void)state;
    static const DType dtypes[][2] = {{DT_F32, DT_F32},
                                      {DT_BF16, DT_BF16},
                                      {DT_BF16, DT_F32},
                                      {DT_F16, DT_F16},
                                      {DT_F16, DT_F32}};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        check_two_readers(dtypes[i][0], dtypes[i][1], true);
        check_two_readers(dtypes[i][0], dtypes[i][1], false);
    }
}

/* ---- what cannot be summed is refused ---- */

/* w is read whole, and one half of it alone: the gradient of the half comes first. */
static void test_part_of_a_parameter(void **state)
{
    (void)state;
    Builder b;
    Model m = {.config = small_config(), .mode = MODE_TRAIN, .full_dtype = DT_F32, .act = DT_F32};
    builder_init(&b, &m.plan);
    params_group(&b, &m, "w", 2 * C * C, true);
    params_add(&b, &m, "upper", C, C, INIT_NORMAL, 1);
    const int lower = params_add(&b, &m, "lower", C, C, INIT_NORMAL, 1);
    const int both = builder_view(&b, "both", m.groups[0].flat, 0, DIMS(2 * C, C), C);
    const int both_grad = builder_view(&b, "both", m.groups[0].grad, 0, DIMS(2 * C, C), C);
    builder_grad_buffer(&b, both, both_grad);
    const int dw = builder_grad_target(&b, lower);
    builder_grad_add(&b, lower, dw);
    assert_int_equal(b.status, ST_OK);
    builder_grad_target(&b, both);
    assert_int_equal(b.status, ST_FAILED);
    assert_non_null(strstr(status_message(), "share only part of their memory"));
    builder_free(&b);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum_of_uses),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_two_readers),
        cmocka_unit_test(test_part_of_a_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
