/* Every implementation of attention against float64 over head widths and lengths that no one tuned
 * for, in every precision, or in one. usage: test_attention_shapes [cpu|cuda [all [PRECISION]]];
 * without `all` some of the smaller ones. */
#include "attention_reference.h"
#include "model/attention_alone.h"
#include "own_cache.h"
#include "step_harness.h"

static BackendId backend = BACKEND_cpu;
static bool all_shapes;
static const char *only_precision; /* NULL: every one */

/* Every disagreement is told. */
static int failures;

static const int64_t widths[] = {1, 3, 16, 40, 64, 80, 100, 128, 192, 256, 512};
static const int64_t lengths[] = {1, 2, 17, 64, 100, 129, 1000, 2048};
enum { N_WIDTHS = sizeof widths / sizeof *widths, N_LENGTHS = sizeof lengths / sizeof *lengths };

static const Attention attentions[] = {ATTENTION_NAIVE, ATTENTION_FUSED, ATTENTION_FLASH};

/* NULL when it is no precision: a name mistyped must not test nothing. */
static const char *precision_named(const char *name)
{
    for (Precision p = 0; p < PRECISION_COUNT; p++) {
        if (strcmp(name, config_precisions[p]) == 0) return config_precisions[p];
    }
    return NULL;
}

static bool is_asked(Precision precision)
{
    if (precision == PRECISION_TF32 && backend == BACKEND_cpu) return false; /* no CPU has it */
    if (precision == PRECISION_FP8) return false; /* of linear layers alone */
    return !only_precision || strcmp(only_precision, config_precisions[precision]) == 0;
}

static Config config_of(const AttentionCase *c, Precision precision, Attention attention)
{
    Config config;
    config_attention_defaults(&config);
    config.batch = c->s.B;
    config.ctx = c->s.T;
    config.heads = c->s.H;
    config.d_head = c->s.D;
    config.mask = c->s.causal ? MASK_CAUSAL : MASK_FULL;
    config.precision = precision;
    config.attention = attention;
    config.exec = attention == ATTENTION_NAIVE ? EXEC_EAGER : EXEC_FUSED;
    ASSERT_OK(config_check(&config));
    return config;
}

/* Element i of the case, which has head by head, in a tensor [B T, H D]. */
static int64_t place(const AttentionCase *c, int64_t i)
{
    const int64_t H = c->s.H, D = c->s.D, T = c->s.T;
    const int64_t head = i / (T * D), row = i / D % T;
    return (head / H * T + row) * H * D + head % H * D + i % D;
}

static int64_t count(const AttentionCase *c)
{
    return c->s.B * c->s.H * attention_case_head(c);
}

static void give(const AttentionCase *c, Step *s, int id, const double *values)
{
    void *host = harness_host(&s->run, id);
    const DType dtype = s->model.plan.tensors[id].dtype;
    for (int64_t i = 0; i < count(c); i++) element_set(host, dtype, place(c, i), values[i]);
}

static double error_of(const AttentionCase *c, const Step *s, int id, const double *want)
{
    double difference = 0, size = 0;
    for (int64_t i = 0; i < count(c); i++) {
        const double x = harness_get(&s->run, id, place(c, i)) - want[i];
        difference += x * x;
        size += want[i] * want[i];
    }
    return size > 1e-20 ? sqrt(difference / size) : sqrt(difference);
}

static double lse_error(const AttentionCase *c, const Step *s)
{
    const Plan *plan = &s->model.plan;
    double difference = 0, size = 1e-3;
    for (int n = 0; n < plan->n_nodes; n++) {
        if (plan->nodes[n].op != OP_attention) continue;
        const int id = plan_out_id(plan, &plan->nodes[n], 1);
        for (int64_t i = 0; i < c->s.B * c->s.H * c->s.T; i++) {
            const double x = harness_get(&s->run, id, i) - c->lse[i];
            difference += x * x;
            size += c->lse[i] * c->lse[i];
        }
    }
    return sqrt(difference / size);
}

/* Where scores are tensors of 16 bit, their own rounding comes first. */
static double bound_of(const AttentionCase *c, const Config *config)
{
    const bool stored =
        config->attention == ATTENTION_NAIVE || config->attention == ATTENTION_FUSED;
    if (stored && c->s.dtype == DT_BF16) return 4e-2;
    if (stored && c->s.dtype == DT_F16) return 5e-3;
    return attention_case_bound(&c->s);
}

static void hold(const char *what, const Config *config, const char *name, double error,
                 double bound)
{
    if (error <= bound) return;
    fprintf(stderr, "%s %s T %lld D %lld %s: %s is off by %g, more than %g\n", what,
            config_precisions[config->precision], (long long)config->ctx, (long long)config->d_head,
            config_masks[config->mask], name, error, bound);
    failures++;
}

/* Opens a step with the case's inputs, and runs it. */
static void run_case(Step *s, const AttentionCase *c, const Config *config, int threads)
{
    const double *inputs[] = {c->q, c->k, c->v};
    open_step_on(s, config, MODE_FWD_BWD, DT_F32, backend, threads);
    for (int i = 0; i < 3; i++) give(c, s, s->model.alone.qkv[i], inputs[i]);
    give(c, s, s->model.alone.dout, c->dout);
    harness_move(&s->run, true);
    forward_backward(s);
}

static void check(AttentionCase *c, Precision precision, Attention attention)
{
    const Config config = config_of(c, precision, attention);
    const char *what = config_attentions[attention];
    Step s;
    attention_plan_precision(config_precisions[precision], &c->s);
    run_case(&s, c, &config, 2);
    const AttentionAlone *a = &s.model.alone;
    const double *gradients[] = {c->dq, c->dk, c->dv};
    static const char *const names[] = {"dq", "dk", "dv"};
    const double bound = bound_of(c, &config);
    hold(what, &config, "out", error_of(c, &s, a->out, c->out), bound);
    hold(what, &config, "lse", lse_error(c, &s), c->s.tf32 ? 1e-3 : 1e-5);
    for (int i = 0; i < 3; i++) {
        hold(what, &config, names[i], error_of(c, &s, a->dqkv[i], gradients[i]),
             bound * attention_case_slack(&c->s));
    }
    close_step(&s);
}

static void check_shape(int64_t T, int64_t D, bool causal)
{
    const int64_t several = T < 1000 ? 2 : 1;
    AttentionCase c = attention_case_make(
        &(AttentionShape){.B = several, .H = several, .T = T, .D = D, .causal = causal});
    for (Precision p = 0; p < PRECISION_COUNT; p++) {
        for (int i = 0; is_asked(p) && i < 3; i++) check(&c, p, attentions[i]);
    }
    attention_case_free(&c);
}

/* Of those that take little time every fourth, and one of many tiles. */
static bool is_chosen(int w, int t)
{
    const bool quick = widths[w] * lengths[t] <= 4096 && (w + t) % 4 == 0;
    return all_shapes || quick || (widths[w] == 3 && lengths[t] == 1000);
}

static void test_shapes(void **state)
{
    const bool causal = *(const bool *)*state;
    failures = 0;
    for (int w = 0; w < N_WIDTHS; w++) {
        for (int t = 0; t < N_LENGTHS; t++) {
            if (is_chosen(w, t)) check_shape(lengths[t], widths[w], causal);
        }
    }
    assert_int_equal(failures, 0);
}

static void hold_finite(const Config *config, const AttentionCase *c, const Step *s, int id)
{
    for (int64_t i = 0; i < count(c); i++) {
        if (isfinite(harness_get(&s->run, id, place(c, i)))) continue;
        hold(config_attentions[config->attention], config, "a number", INFINITY, 0);
        return;
    }
}

/* Which probability is nearly 1 hangs on a score: fp32 is off by some 1e-7 of 10,000, and where
 * scores are stored in 16 bit, by more than any bound. Gradients are differences of what is nearly
 * equal: they are numbers. */
static void check_large(const AttentionCase *c, Precision precision, Attention attention)
{
    const Config config = config_of(c, precision, attention);
    const bool wide = precision == PRECISION_FP32 || precision == PRECISION_TF32;
    Step s;
    run_case(&s, c, &config, 2);
    const AttentionAlone *a = &s.model.alone;
    hold_finite(&config, c, &s, a->out);
    for (int i = 0; i < 3; i++) hold_finite(&config, c, &s, a->dqkv[i]);
    if (wide || attention == ATTENTION_FLASH) {
        hold(config_attentions[attention], &config, "out", error_of(c, &s, a->out, c->out), 1e-2);
    }
    close_step(&s);
}

/* Operands stay exact in every precision. */
static void enlarge(AttentionCase *c)
{
    for (int64_t i = 0; i < count(c); i++) {
        c->q[i] *= 128;
        c->k[i] *= 64;
    }
    attention_case_results(c);
}

/* Scores of more than 10,000: products of q and k are beyond the range of fp16 before they are scaled. */
static void test_large_scores(void **state)
{
    (void)state;
    static const int64_t some[] = {3, 64, 512};
    failures = 0;
    for (int w = 0; w < 3; w++) {
        AttentionCase c = attention_case_make(
            &(AttentionShape){.B = 1, .H = 2, .T = 129, .D = some[w], .causal = w % 2 == 0});
        enlarge(&c);
        for (Precision p = 0; p < PRECISION_COUNT; p++) {
            for (int i = 0; is_asked(p) && i < 3; i++) check_large(&c, p, attentions[i]);
        }
        attention_case_free(&c);
    }
    assert_int_equal(failures, 0);
}

/* Products beyond the range of a float: -infinity for all keys of the first tiles, and numbers after them. */
static void test_scores_below_all_numbers(void **state)
{
    (void)state;
    const int64_t T = 900, D = 8;
    AttentionCase c =
        attention_case_make(&(AttentionShape){.B = 1, .H = 1, .T = T, .D = D, .causal = false});
    for (int64_t i = 0; i < T * D; i++) {
        c.q[i] = 0x1p66;
        c.k[i] = i < 800 * D ? -0x1p66 : 0x1p-66 * c.v[i];
    }
    attention_case_results(&c);
    failures = 0;
    check(&c, PRECISION_FP32, ATTENTION_FLASH);
    attention_case_free(&c);
    assert_int_equal(failures, 0);
}

/* Heads that a thread has alone, and heads that all threads share, of several tiles of keys each;
 * on a GPU run after run, each of a backend of its own. */
static void hold_threads(const AttentionCase *c, Precision precision, Attention attention)
{
    static const int threads[] = {2, 3, 4, 8};
    const Config config = config_of(c, precision, attention);
    Step one, more;
    run_case(&one, c, &config, 1);
    for (int t = 0; t < 4; t++) {
        run_case(&more, c, &config, threads[t]);
        for (int i = 0; i < 3; i++) {
            const int id = one.model.alone.dqkv[i];
            assert_memory_equal(harness_host(&one.run, id), harness_host(&more.run, id),
                                plan_bytes(&one.model.plan.tensors[id]));
        }
        close_step(&more);
    }
    close_step(&one);
}

static void test_threads_agree(void **state)
{
    const bool causal = *(const bool *)*state;
    AttentionCase c =
        attention_case_make(&(AttentionShape){.B = 1, .H = 3, .T = 500, .D = 16, .causal = causal});
    for (Precision p = 0; p < PRECISION_COUNT; p++) {
        for (int i = 0; is_asked(p) && i < 3; i++) hold_threads(&c, p, attentions[i]);
    }
    attention_case_free(&c);
}

int main(int argc, char **argv)
{
    static bool causal = true, full = false;
    /* What is fastest for thousands of products is not kept on disk; where bits are compared, it is. */
    if (setenv("XDG_CACHE_HOME", "/proc/none", 1) != 0) return 1;
    if (argc > 1) backend = harness_backend(argv[1]);
    all_shapes = argc > 2 && strcmp(argv[2], "all") == 0;
    if (argc > 3 && !(only_precision = precision_named(argv[3]))) return 2;
    const struct CMUnitTest tests[] = {
        {"causal", test_shapes, NULL, NULL, &causal},
        {"full", test_shapes, NULL, NULL, &full},
        cmocka_unit_test(test_large_scores),
        cmocka_unit_test(test_scores_below_all_numbers),
        {"threads, causal", test_threads_agree, own_cache_make, own_cache_drop, &causal},
        {"threads, full", test_threads_agree, own_cache_make, own_cache_drop, &full}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
