/* Attention as each implementation builds it, with heads of k and v that several of q share and with
 * sliding windows: results against the definition in double, gradients against the float64 reference,
 * FLOPs and bytes by the pairs that are visible and the heads that there are.
 * usage: test_sdpa [cpu|cuda] */
#include "model/sdpa.h"
#include "model/stages.h"
#include "op_harness.h"

static BackendId backend = BACKEND_cpu;

enum { PACKED, DOUT = 4 }; /* the same tensors in every plan: the harness fills them alike */

typedef struct Case {
    Model model;
    Builder b;
    HarnessRun run;
} Case;

static int64_t kv_heads(const SdpaShape *s)
{
    return s->kv_heads ? s->kv_heads : s->H;
}

/* q, k and v are windows into one tensor, as in a model. */
static void build(Case *c, const SdpaShape *s, Attention attention, DType act)
{
    const int64_t rows = s->B * s->T, C = s->H * s->D, kv = kv_heads(s) * s->D, width = C + 2 * kv;
    Model *m = &c->model;
    *m = (Model){.config.subject = SUBJECT_ATTENTION,
                 .attention = attention,
                 .act = act,
                 .full_dtype = op_full_dtype(act),
                 .rope_cos = PLAN_NONE};
    Builder *b = &c->b;
    builder_init(b, &m->plan);
    b->phase = PHASE_FORWARD;
    const int packed = builder_tensor(b, "qkv", TK_ACTIVATION, act, DIMS(rows, width));
    m->alone.qkv[0] = builder_view(b, "q", packed, 0, DIMS(rows, C), width);
    m->alone.qkv[1] = builder_view(b, "k", packed, C, DIMS(rows, kv), width);
    m->alone.qkv[2] = builder_view(b, "v", packed, C + kv, DIMS(rows, kv), width);
    m->alone.dout = builder_tensor(b, "dout", TK_ACTIVATION, act, DIMS(rows, C));
    assert_int_equal(packed, PACKED);
    assert_int_equal(m->alone.dout, DOUT);
    m->alone.out = sdpa_build(b, m, s, PLAN_NONE, m->alone.qkv);
    transform_decompose(b, m);
    backward_build(b, m);
    ASSERT_OK(b->status);
    for (int i = 0; i < 3; i++) m->alone.dqkv[i] = builder_grad(b, m->alone.qkv[i]);
}

static void end(Case *c)
{
    builder_free(&c->b);
    plan_free(&c->model.plan);
}

static void run(Case *c, BackendId on, const char *prefer)
{
    harness_keep_all(&c->model.plan);
    harness_open_on(&c->run, &c->model.plan, on, prefer, 2);
    harness_run_nodes(&c->run);
}

static double bound(DType act)
{
    return act == DT_BF16 ? 4e-2 : act == DT_F16 ? 5e-3 : 1e-5;
}

/* Result i of head h, from the definition: the keys are max(0, i - W + 1) .. i. */
static double result(const Case *c, const SdpaShape *s, int64_t row, int64_t h, int64_t d)
{
    const int *qkv = c->model.alone.qkv;
    const int64_t i = row % s->T, C = s->H * s->D, kv = kv_heads(s) * s->D;
    const int64_t shared = h / (s->H / kv_heads(s));
    double sum = 0, weighted = 0;
    for (int64_t j = 0; j < s->T; j++) {
        if (s->causal && j > i) continue;
        if (s->window && j + s->window <= i) continue;
        double score = 0;
        for (int64_t e = 0; e < s->D; e++) {
            score += harness_get(&c->run, qkv[0], row * C + h * s->D + e) *
                     harness_get(&c->run, qkv[1], (row - i + j) * kv + shared * s->D + e);
        }
        const double p = exp(score / sqrt((double)s->D));
        sum += p;
        weighted += p * harness_get(&c->run, qkv[2], (row - i + j) * kv + shared * s->D + d);
    }
    return weighted / sum;
}

static void check_definition(const Case *c, const SdpaShape *s)
{
    const int64_t C = s->H * s->D;
    for (int64_t i = 0; i < s->B * s->T * C; i++) {
        const double want = result(c, s, i / C, i % C / s->D, i % s->D);
        const double got = harness_get(&c->run, c->model.alone.out, i);
        if (!(fabs(got - want) <= 1e-12)) {
            fail_msg("H %lld T %lld window %lld: result %lld is %g, not %g", (long long)s->H,
                     (long long)s->T, (long long)s->window, (long long)i, got, want);
        }
    }
}

static void compare(const Case *got, const Case *want, const SdpaShape *s, const char *name)
{
    const AttentionAlone *x = &got->model.alone, *y = &want->model.alone;
    const int ids[4][2] = {{x->out, y->out},
                           {x->dqkv[0], y->dqkv[0]},
                           {x->dqkv[1], y->dqkv[1]},
                           {x->dqkv[2], y->dqkv[2]}};
    for (int i = 0; i < 4; i++) {
        const double error = harness_error(&got->run, &want->run, ids[i][0], ids[i][1]);
        if (!(error <= bound(got->model.act))) {
            fail_msg("%s in %s, H %lld of %lld, T %lld, D %lld, window %lld: '%s' is off by %g",
                     name, plan_dtype_name(got->model.act), (long long)s->H, (long long)kv_heads(s),
                     (long long)s->T, (long long)s->D, (long long)s->window,
                     got->model.plan.tensors[ids[i][0]].name, error);
        }
    }
}

static const SdpaShape shapes[] = {
    {.B = 2, .T = 17, .H = 3, .D = 10, .kv_heads = 1, .causal = true},
    {.B = 1, .T = 20, .H = 14, .D = 6, .kv_heads = 2, .causal = true, .window = 7},
    {.B = 2, .T = 33, .H = 2, .D = 16, .causal = true, .window = 1},
    {.B = 1, .T = 64, .H = 6, .D = 2, .kv_heads = 3, .causal = true, .window = 63},
    {.B = 1, .T = 100, .H = 2, .D = 8, .kv_heads = 1, .causal = true, .window = 105},
    {.B = 1, .T = 13, .H = 4, .D = 80, .kv_heads = 2},
    {.B = 1, .T = 1, .H = 7, .D = 64, .kv_heads = 1, .causal = true, .window = 3}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static void check_implementations(const SdpaShape *s, const Case *want, DType act)
{
    static const struct {
        Attention attention;
        const char *prefer; /* where it declines, the other one runs */
    } implementations[] = {{ATTENTION_NAIVE, NULL},
                           {ATTENTION_FUSED, NULL},
                           {ATTENTION_FLASH, "flash"},
                           {ATTENTION_CUDNN, "cudnn"}};
    const int n = backend == BACKEND_cpu ? 3 : 4;
    for (int i = 0; i < n; i++) {
        const Attention attention = implementations[i].attention;
        Case got;
        build(&got, s, attention, act);
        run(&got, backend, implementations[i].prefer);
        compare(&got, want, s, config_attentions[attention]);
        harness_close(&got.run);
        end(&got);
    }
}

static void every_implementation_agrees(void **state)
{
    static const DType acts[] = {DT_F32, DT_BF16, DT_F16, DT_F64};
    const int n_acts = backend == BACKEND_cpu ? 4 : 3;
    (void)state;
    for (int n = 0; n < N_SHAPES; n++) {
        Case want;
        build(&want, &shapes[n], ATTENTION_FLASH, DT_F64);
        run(&want, BACKEND_cpu, "reference");
        check_definition(&want, &shapes[n]);
        for (int i = 0; i < n_acts; i++) check_implementations(&shapes[n], &want, acts[i]);
        harness_close(&want.run);
        end(&want);
    }
}

enum { WIDTHS = 8, GROUPS = 4 };

/* Every head width with every number of heads of q that share one of k and v; of either, with windows
 * within a tile, of a tile (64 of 129 tokens), longer than the sequence, and without. Lengths are odd.
 * On a CPU wide heads have shorter ones: a shape takes as long as the others. */
static SdpaShape shared_shape(int width, int group)
{
    static const int64_t widths[WIDTHS] = {10, 16, 40, 64, 80, 96, 128, 256};
    static const int64_t groups[GROUPS] = {2, 3, 7, 8};
    const int64_t D = widths[width], length = (int64_t)(129 * sqrt(10 / (double)D));
    const int64_t T = backend == BACKEND_cpu ? length | 1 : 129;
    const int64_t windows[] = {5, T / 2, T + 6, 0};
    const int64_t kv = group == 0 ? 2 : 1; /* several groups, too */
    return (SdpaShape){.B = 1,
                       .T = T,
                       .H = kv * groups[group],
                       .D = D,
                       .kv_heads = kv,
                       .causal = true,
                       .window = windows[(width + group) % 4]};
}

static void shared_heads_of_every_width(void **state)
{
    static const DType acts[] = {DT_F32, DT_BF16, DT_F16};
    (void)state;
    for (int i = 0; i < WIDTHS * GROUPS; i++) {
        const SdpaShape s = shared_shape(i / GROUPS, i % GROUPS);
        Case want;
        build(&want, &s, ATTENTION_FLASH, DT_F64);
        run(&want, BACKEND_cpu, "reference");
        for (int a = 0; a < 3; a++) check_implementations(&s, &want, acts[a]);
        harness_close(&want.run);
        end(&want);
    }
}

static void assert_same(double got, double want)
{
    if (got != want) fail_msg("%.17g, not %.17g", got, want);
}

static double matmul_flops(const Plan *plan, Phase phase)
{
    double flops = 0;
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (node->phase == phase && plan_category_multiplies(plan_op_category(node->op)))
            flops += op_cost(plan, node).flops;
    }
    return flops;
}

/* Two products forward and four backward, of the pairs that are visible, whatever is shared. */
static void flops_count_visible_pairs(void **state)
{
    static const struct {
        int64_t window;
        double pairs;
    } windows[] = {{0, 5000}, {100, 5000}, {105, 5000}, {99, 4999.5}, {33, 2755.5}, {1, 99.5}};
    (void)state;
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        for (int a = 0; a < 6; a++) {
            const SdpaShape s = {.B = 2,
                                 .T = 100,
                                 .H = 6,
                                 .D = 5,
                                 .kv_heads = a % 2 ? 2 : 0,
                                 .causal = true,
                                 .window = windows[w].window};
            static const Attention kinds[] = {ATTENTION_NAIVE, ATTENTION_FUSED, ATTENTION_FLASH};
            const double product = 2.0 * 2 * 6 * windows[w].pairs * 5;
            Case c;
            build(&c, &s, kinds[a / 2], DT_F32);
            assert_same(matmul_flops(&c.model.plan, PHASE_FORWARD), 2 * product);
            assert_same(matmul_flops(&c.model.plan, PHASE_BACKWARD), 4 * product);
            end(&c);
        }
    }
}

/* k and v are read once, as many heads as they have; heads' width is an attribute only where it is needed. */
static void bytes_are_those_of_the_heads_there_are(void **state)
{
    const SdpaShape s = {.B = 2, .T = 10, .H = 6, .D = 4, .kv_heads = 2, .causal = true};
    Case c;
    (void)state;
    build(&c, &s, ATTENTION_FLASH, DT_BF16);
    const Plan *plan = &c.model.plan;
    const double heads = 2 * 10 * 4 * 2, lse = 2 * 10 * 6 * 4; /* bytes of one head everywhere */
    assert_same(op_cost(plan, &plan->nodes[0]).bytes, (6 + 2 + 2 + 6) * heads + lse);
    assert_same(op_cost(plan, &plan->nodes[1]).bytes, (3 * 6 + 2 + 2 + 6 + 2 + 2) * heads + lse);
    assert_int_equal(plan->nodes[1].attr.head_dim, 4);
    end(&c);
    SdpaShape own = s;
    own.kv_heads = own.H;
    build(&c, &own, ATTENTION_FUSED, DT_BF16);
    for (int i = 0; i < c.model.plan.n_nodes; i++)
        assert_int_equal(c.model.plan.nodes[i].attr.head_dim, 0);
    end(&c);
}

int main(int argc, char **argv)
{
    if (argc > 1) backend = harness_backend(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_implementation_agrees),
        cmocka_unit_test(shared_heads_of_every_width),
        cmocka_unit_test(flops_count_visible_pairs),
        cmocka_unit_test(bytes_are_those_of_the_heads_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
