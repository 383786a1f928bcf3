/* Attention on a GPU against float64, for every implementation and precision over head widths and
 * lengths that would take too long in test_ops; two runs give the same bits unless the implementation
 * says otherwise; scores of ten thousand give numbers. Inputs are exact in every format, so one reference
 * serves all. */
#include "attention_reference.h"
#include "ops/element.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>

#define ASSERT_OK(expr)                                                   \
    do {                                                                  \
        if ((expr) != ST_OK) fail_msg("%s: %s", #expr, status_message()); \
    } while (0)

/* Every disagreement is told, so that one run on a rented GPU says all. */
static int failures;
#define DISAGREE(...)                 \
    do {                              \
        fprintf(stderr, __VA_ARGS__); \
        fputc('\n', stderr);          \
        failures++;                   \
    } while (0)

/* Of all sequences, in part `part`: q, or k and v. */
static int64_t heads_of(const AttentionCase *c, int part)
{
    return c->s.B * (part ? attention_plan_kv_heads(&c->s) : c->s.H);
}

/* Element i of part `part`, which has head by head, in a packed tensor of `parts` parts. */
static int64_t gemm_at(const AttentionCase *c, int64_t i, int part, int parts)
{
    const int64_t D = c->s.D, C = c->s.H * D, K = attention_plan_kv_heads(&c->s) * D;
    const int64_t h = i / attention_case_head(c), row = i % attention_case_head(c) / D;
    const int64_t heads = heads_of(c, part) / c->s.B, offset = part ? C + (part - 1) * K : 0;
    const int64_t width = parts == 1 ? C : C + 2 * K;
    return (h / heads * c->s.T + row) * width + offset + h % heads * D + i % D;
}

static void upload(const AttentionCase *c, Session *session, int id, double *const *part, int parts)
{
    const Tensor *t = &session->plan->tensors[id];
    void *host = malloc(plan_bytes(t));
    assert_non_null(host);
    for (int p = 0; p < parts; p++) {
        for (int64_t i = 0; i < heads_of(c, p) * attention_case_head(c); i++) {
            element_set(host, t->dtype, gemm_at(c, i, p, parts), part[p][i]);
        }
    }
    ASSERT_OK(session_upload(session, id, host));
    free(host);
}

typedef struct Got {
    void *out, *lse, *dqkv;
} Got;

static void *fetch(Session *s, int id)
{
    void *host = malloc(plan_bytes(&s->plan->tensors[id]));
    assert_non_null(host);
    ASSERT_OK(session_download(s, id, host));
    return host;
}

/* Runs both phases into memory full of NaN. */
static Got run_once(Session *s, const AttentionPlan *p)
{
    const int results[] = {p->out, p->lse, p->dqkv};
    for (size_t i = 0; i < 3; i++) {
        const size_t bytes = plan_bytes(&p->plan.tensors[results[i]]);
        void *host = malloc(bytes);
        assert_non_null(host);
        ASSERT_OK(session_upload(s, results[i], memset(host, 0xff, bytes)));
        free(host);
    }
    ASSERT_OK(session_run(s, PHASE_FORWARD));
    ASSERT_OK(session_run(s, PHASE_BACKWARD));
    ASSERT_OK(s->api->sync(s->backend));
    return (Got){fetch(s, p->out), fetch(s, p->lse), fetch(s, p->dqkv)};
}

static double error(const AttentionCase *c, const void *got, DType dtype, const double *want,
                    int part, int parts)
{
    double difference = 0, size = 0;
    for (int64_t i = 0; i < heads_of(c, part) * attention_case_head(c); i++) {
        const double x = element_get(got, dtype, gemm_at(c, i, part, parts));
        difference += (x - want[i]) * (x - want[i]);
        size += want[i] * want[i];
    }
    return size > 1e-20 ? sqrt(difference / size) : sqrt(difference);
}

static double lse_error(const AttentionCase *c, const float *got)
{
    double difference = 0, size = 0;
    for (int64_t i = 0; i < c->s.B * c->s.H * c->s.T; i++) {
        difference += (got[i] - c->lse[i]) * (got[i] - c->lse[i]);
        size += c->lse[i] * c->lse[i];
    }
    return sqrt(difference / (size + 1e-3));
}

static void compare(const AttentionCase *c, const AttentionPlan *p, const Got *got,
                    const char *what)
{
    const DType dtype = p->plan.tensors[p->out].dtype;
    const double errors[] = {
        error(c, got->out, dtype, c->out, 0, 1), error(c, got->dqkv, dtype, c->dq, 0, 3),
        error(c, got->dqkv, dtype, c->dk, 1, 3), error(c, got->dqkv, dtype, c->dv, 2, 3)};
    static const char *const names[] = {"out", "dq", "dk", "dv"};
    for (int i = 0; i < 4; i++) {
        if (errors[i] <= attention_case_bound(&c->s) * (i == 0 ? 1 : attention_case_slack(&c->s)))
            continue;
        DISAGREE("%s: %s is off by %g", what, names[i], errors[i]);
    }
    const double lse = lse_error(c, got->lse);
    if (!(lse <= (c->s.tf32 ? 1e-3 : 1e-5))) DISAGREE("%s: lse is off by %g", what, lse);
}

static void same_bits(const AttentionPlan *p, const Got *a, const Got *b, const char *what)
{
    if (memcmp(a->out, b->out, plan_bytes(&p->plan.tensors[p->out])) != 0 ||
        memcmp(a->dqkv, b->dqkv, plan_bytes(&p->plan.tensors[p->dqkv])) != 0) {
        DISAGREE("%s: two runs differ", what);
    }
}

static void all_finite(const AttentionCase *c, const AttentionPlan *p, const Got *got,
                       const char *what)
{
    const DType dtype = p->plan.tensors[p->out].dtype;
    const int64_t n = c->s.B * c->s.H * attention_case_head(c);
    for (int64_t i = 0; i < 4 * n; i++) {
        const double x =
            i < n ? element_get(got->out, dtype, i) : element_get(got->dqkv, dtype, i - n);
        if (isfinite(x)) continue;
        DISAGREE("%s: element %lld is %g", what, (long long)i, x);
        break;
    }
    const double lse = lse_error(c, got->lse);
    if (!(lse <= 1e-3)) DISAGREE("%s: lse is off by %g", what, lse);
}

static void free_got(Got *got)
{
    free(got->out);
    free(got->lse);
    free(got->dqkv);
}

/* False when the implementation declines. */
static bool accepted(const Plan *plan, const char *impl, bool *nondeterministic)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        OpImpl chosen;
        if (op_choose(plan, &plan->nodes[i], BACKEND_cuda, impl, &chosen) != ST_OK) return false;
        *nondeterministic = *nondeterministic || chosen.nondeterministic;
    }
    return true;
}

static void check(AttentionCase *c, const char *impl, const char *precision, bool large)
{
    static AttentionPlan p;
    Binding binding;
    Session session;
    char what[128];
    bool nondeterministic = false;
    assert_true(attention_plan_precision(precision, &c->s));
    ASSERT_OK(attention_plan_make(&p, &c->s));
    snprintf(what, sizeof what, "%s %s B %lld H %lld/%lld T %lld D %lld %s, window %lld", impl,
             precision, (long long)c->s.B, (long long)c->s.H,
             (long long)attention_plan_kv_heads(&c->s), (long long)c->s.T, (long long)c->s.D,
             c->s.causal ? "causal" : "full", (long long)c->s.window);
    if (accepted(&p.plan, impl, &nondeterministic)) {
        ASSERT_OK(
            binding_make(&binding, &p.plan, BACKEND_cuda, 1, (const char *const[]){impl, NULL}));
        ASSERT_OK(session_open(&session, &binding, 0));
        upload(c, &session, p.qkv, (double *[]){c->q, c->k, c->v}, 3);
        upload(c, &session, p.dout, &c->dout, 1);
        Got first = run_once(&session, &p), second = run_once(&session, &p);
        if (large) {
            all_finite(c, &p, &first, what);
        } else {
            compare(c, &p, &first, what);
        }
        if (!nondeterministic) same_bits(&p, &first, &second, what);
        free_got(&first);
        free_got(&second);
        session_close(&session);
        binding_free(&binding);
    }
    plan_free(&p.plan);
}

static void check_all(const AttentionShape *s, bool large)
{
    static const char *const impls[] = {"flash", "cudnn"};
    static const char *const precisions[] = {"fp32", "tf32", "bf16", "fp16"};
    AttentionCase c = attention_case_make(s);
    for (int i = 0; i < 2; i++) {
        for (int p = 0; p < 4; p++) check(&c, impls[i], precisions[p], large);
    }
    attention_case_free(&c);
}

static const int64_t widths[] = {1, 3, 16, 40, 64, 80, 100, 128, 192, 256, 512};
static const int64_t lengths[] = {1, 2, 17, 64, 100, 129, 1000, 2048};

static void test_shapes(void **state)
{
    const bool causal = *(const bool *)*state;
    failures = 0;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t t = 0; t < sizeof lengths / sizeof *lengths; t++) {
            const int64_t several = lengths[t] < 1000 ? 2 : 1;
            check_all(
                &(AttentionShape){
                    .B = several, .H = several, .T = lengths[t], .D = widths[w], .causal = causal},
                false);
        }
    }
    assert_int_equal(failures, 0);
}

/* Heads that share keys and values, and windows: many blocks of keys whose sums meet, windows within
 * a tile, across tiles and longer than a block. */
static void test_shared_heads(void **state)
{
    (void)state;
    static const AttentionShape shapes[] = {
        {.B = 2, .H = 8, .kv_heads = 2, .T = 700, .D = 64, .causal = true},
        {.B = 1, .H = 8, .kv_heads = 8, .T = 700, .D = 64, .causal = true, .window = 200},
        {.B = 1, .H = 6, .kv_heads = 2, .T = 1000, .D = 128, .causal = true, .window = 333},
        {.B = 1, .H = 7, .kv_heads = 1, .T = 300, .D = 80, .causal = true, .window = 5},
        {.B = 2, .H = 4, .kv_heads = 2, .T = 333, .D = 24, .causal = true, .window = 128},
        {.B = 2, .H = 4, .kv_heads = 1, .T = 200, .D = 40, .causal = false},
        {.B = 1, .H = 2, .kv_heads = 1, .T = 257, .D = 256, .causal = true, .window = 64},
        {.B = 1, .H = 3, .kv_heads = 1, .T = 150, .D = 320, .causal = true, .window = 40},
        {.B = 1, .H = 28, .kv_heads = 4, .T = 512, .D = 16, .causal = true, .window = 511}};
    failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check_all(&shapes[i], false);
    assert_int_equal(failures, 0);
}

/* Products of up to D / 3 or so, times a scale that makes ten thousands of them. */
static void test_large_scores(void **state)
{
    (void)state;
    failures = 0;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        const double D = (double)widths[w];
        check_all(&(AttentionShape){.B = 1,
                                    .H = 2,
                                    .T = 200,
                                    .D = widths[w],
                                    .causal = w % 2 == 0,
                                    .scale = 1e4 / sqrt(D)},
                  true);
    }
    assert_int_equal(failures, 0);
}

int main(void)
{
    static bool causal = true, full = false;
    const struct CMUnitTest tests[] = {
        {"causal", test_shapes, NULL, NULL, &causal},
        {"full", test_shapes, NULL, NULL, &full},
        cmocka_unit_test(test_shared_heads),
        cmocka_unit_test(test_large_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
