/* Attention without a model: what it computes, what it starts from, what it keeps, what it costs. */
#include "bench/estimate/time_estimate.h"
#include "model/attention_alone.h"
#include "model/step_cost.h"
#include "step_harness.h"

static const Attention attentions[] = {ATTENTION_NAIVE, ATTENTION_FUSED, ATTENTION_FLASH,
                                       ATTENTION_CUDNN};
enum { N_ATTENTIONS = sizeof attentions / sizeof *attentions };

static Config alone_config(int64_t B, int64_t T, int64_t H, int64_t D, Mask mask)
{
    Config c;
    config_attention_defaults(&c);
    c.batch = B;
    c.ctx = T;
    c.heads = H;
    c.d_head = D;
    c.mask = mask;
    c.seed = 7;
    if (config_check(&c) != ST_OK) fail_msg("%s", status_message());
    return c;
}

static const char *name_of(const Config *c)
{
    static char name[128];
    snprintf(name, sizeof name, "%s %s %s %s B %lld T %lld H %lld D %lld",
             config_attentions[c->attention], config_precisions[c->precision],
             config_execs[c->exec], config_masks[c->mask], (long long)c->batch, (long long)c->ctx,
             (long long)c->heads, (long long)c->d_head);
    return name;
}

/* {B, T, H, D}: one token, odd widths, several heads, more than a block of queries. */
static const int64_t shapes[][4] = {{1, 1, 1, 1}, {2, 2, 1, 3}, {3, 17, 2, 5}, {1, 129, 1, 40}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Every shape with every mask. */
static void each_shape(void (*fn)(Config *config))
{
    for (int i = 0; i < N_SHAPES; i++) {
        for (int mask = 0; mask < MASK_COUNT; mask++) {
            Config c =
                alone_config(shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3], (Mask)mask);
            fn(&c);
        }
    }
}

/* ---- right ---- */

static void compare(const Config *c, Step *got, Step *want, double bound)
{
    const AttentionAlone *a = &got->model.alone, *b = &want->model.alone;
    const int ids[][2] = {{a->out, b->out},
                          {a->dqkv[0], b->dqkv[0]},
                          {a->dqkv[1], b->dqkv[1]},
                          {a->dqkv[2], b->dqkv[2]}};
    static const char *const names[] = {"out", "dq", "dk", "dv"};
    for (int i = 0; i < 4; i++) {
        /* one key: its probability is 1 whatever the score, so that dq and dk are 0 but for rounding */
        if (c->ctx == 1 && (i == 1 || i == 2)) continue;
        const double error = tensor_error(got, ids[i][0], 1, want, ids[i][1]);
        if (!(error <= bound)) fail_msg("%s: %s is off by %g", name_of(c), names[i], error);
    }
}

/* What was rounded to 16 bit is given to the reference as it is. */
static void take_inputs(Step *to, const Step *from)
{
    const AttentionAlone *a = &from->model.alone, *b = &to->model.alone;
    const int ids[][2] = {
        {a->qkv[0], b->qkv[0]}, {a->qkv[1], b->qkv[1]}, {a->qkv[2], b->qkv[2]}, {a->dout, b->dout}};
    for (int t = 0; t < 4; t++) {
        double *dst = harness_host(&to->run, ids[t][1]);
        const int64_t n = plan_elements(&to->model.plan.tensors[ids[t][1]]);
        for (int64_t i = 0; i < n; i++) dst[i] = harness_get(&from->run, ids[t][0], i);
    }
}

static void check_implementation(const Config *c, Step *want, double bound)
{
    Step got;
    open_step(&got, c, MODE_FWD_BWD, DT_F32, 2);
    take_inputs(want, &got);
    forward_backward(want);
    forward_backward(&got);
    compare(c, &got, want, bound);
    close_step(&got);
}

static void check_numbers(Config *c)
{
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    static const double bounds[] = {1e-5, 4e-2, 5e-3};
    Step want;
    c->attention = ATTENTION_FUSED;
    open_step(&want, c, MODE_FWD_BWD, DT_F64, 2);
    for (int p = 0; p < 3; p++) {
        for (int a = 0; a < 3; a++) { /* cudnn needs a GPU */
            for (int exec = EXEC_EAGER; exec <= EXEC_FUSED; exec++) {
                c->precision = precisions[p];
                c->attention = attentions[a];
                c->exec = (Exec)exec;
                check_implementation(c, &want, bounds[p]);
            }
        }
    }
    close_step(&want);
}

static void every_implementation_computes_the_same(void **state)
{
    (void)state;
    each_shape(check_numbers);
}

/* {B, T, H, heads of k and v, D, window}: heads that share, windows within T, of T and beyond it. */
static const int64_t shared[][6] = {
    {2, 17, 4, 2, 5, 0}, {1, 33, 6, 1, 8, 7}, {3, 9, 2, 0, 4, 9}, {1, 12, 3, 3, 16, 50}};

static Config shared_config(const int64_t s[6])
{
    Config c = alone_config(s[0], s[1], s[2], s[4], MASK_CAUSAL);
    c.kv_heads = s[3];
    c.window = s[5];
    ASSERT_OK(config_check(&c));
    return c;
}

static void shared_heads_and_windows_compute_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        Config c = shared_config(shared[i]);
        check_numbers(&c);
    }
}

/* k and v are as wide as their heads, nothing is copied, and a window has fewer pairs. */
static void shared_heads_and_windows_cost_what_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const int64_t *s = shared[i];
        Config c = shared_config(s);
        const int64_t kv = s[3] ? s[3] : s[2];
        const double T = (double)s[1], W = (double)s[5],
                     pairs = W > 0 && W < T ? W * (T - W / 2) : T * T / 2;
        Model m;
        c.attention = ATTENTION_FLASH;
        ASSERT_OK(model_build(&m, &c, MODE_FWD_BWD, DT_F32));
        const Tensor *tensors = m.plan.tensors;
        assert_int_equal(plan_elements(&tensors[m.alone.qkv[0]]), s[0] * s[1] * s[2] * s[4]);
        for (int t = 1; t < 3; t++) {
            assert_int_equal(plan_elements(&tensors[m.alone.qkv[t]]), s[0] * s[1] * kv * s[4]);
            assert_int_equal(plan_elements(&tensors[m.alone.dqkv[t]]), s[0] * s[1] * kv * s[4]);
        }
        const double want = 12.0 * (double)(s[0] * s[2] * s[4]) * pairs;
        assert_true(fabs(step_cost_of(&m.plan).step.matmul_flops - want) < 1e-9 * want);
        model_free(&m);
    }
}

/* Against the formula itself, written down once more: row i of one head. */
static void the_result_is_the_formula(void **state)
{
    (void)state;
    const Config c = alone_config(1, 6, 2, 3, MASK_FULL);
    Step s;
    open_step(&s, &c, MODE_FWD, DT_F64, 1);
    run_phase(&s, PHASE_FORWARD);
    const AttentionAlone *alone = &s.model.alone;
    for (int64_t h = 0; h < 2; h++) {
        for (int64_t i = 0; i < 6; i++) {
            double p[6], sum = 0;
            for (int64_t j = 0; j < 6; j++) {
                double score = 0;
                for (int64_t d = 0; d < 3; d++) {
                    score += harness_get(&s.run, alone->qkv[0], i * 6 + h * 3 + d) *
                             harness_get(&s.run, alone->qkv[1], j * 6 + h * 3 + d);
                }
                sum += p[j] = exp(score / sqrt(3));
            }
            for (int64_t d = 0; d < 3; d++) {
                double want = 0;
                for (int64_t j = 0; j < 6; j++) {
                    want += p[j] / sum * harness_get(&s.run, alone->qkv[2], j * 6 + h * 3 + d);
                }
                assert_true(fabs(want - harness_get(&s.run, alone->out, i * 6 + h * 3 + d)) <
                            1e-12);
            }
        }
    }
    close_step(&s);
}

/* ---- what it starts from ---- */

static void inputs_are_normal_and_differ(void **state)
{
    (void)state;
    const Config c = alone_config(4, 100, 2, 32, MASK_CAUSAL);
    Step s;
    open_step(&s, &c, MODE_FWD_BWD, DT_F32, 2);
    const AttentionAlone *alone = &s.model.alone;
    const int ids[] = {alone->qkv[0], alone->qkv[1], alone->qkv[2], alone->dout};
    const int64_t n = 4 * 100 * 2 * 32;
    for (int t = 0; t < 4; t++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) {
            const double x = harness_get(&s.run, ids[t], i);
            sum += x;
            squares += x * x;
        }
        assert_true(fabs(sum / (double)n) < 0.03);
        assert_true(fabs(squares / (double)n - 0.973) < 0.03); /* cut at 3 */
        for (int u = 0; u < t; u++) {
            assert_true(harness_get(&s.run, ids[t], 0) != harness_get(&s.run, ids[u], 0));
        }
    }
    close_step(&s);
}

/* The same on one thread and on three; in 16 bit the same, rounded. */
static void inputs_depend_on_the_seed_alone(void **state)
{
    (void)state;
    Config c = alone_config(2, 300, 3, 16, MASK_CAUSAL);
    Step a, b, narrow, other;
    open_step(&a, &c, MODE_FWD_BWD, DT_F32, 1);
    open_step(&b, &c, MODE_FWD_BWD, DT_F32, 3);
    c.precision = PRECISION_BF16;
    open_step(&narrow, &c, MODE_FWD_BWD, DT_F32, 2);
    c.seed = 8;
    open_step(&other, &c, MODE_FWD_BWD, DT_F32, 2);
    const int v = a.model.alone.qkv[2];
    int same = 0;
    for (int64_t i = 0; i < 2 * 300 * 3 * 16; i++) {
        const double x = harness_get(&a.run, v, i), y = harness_get(&narrow.run, v, i);
        assert_true(x == harness_get(&b.run, v, i));
        assert_true(y == (double)float16_from_bf16(float16_to_bf16((float)x)));
        same += y == harness_get(&other.run, v, i);
    }
    assert_true(same < 1000);
    close_step(&a);
    close_step(&b);
    close_step(&narrow);
    close_step(&other);
}

/* ---- what it keeps ---- */

/* w bytes an element; E in each of q, k, v, out; S scores; R rows of them. */
static size_t bytes_before_backward(const Config *c)
{
    const size_t w = c->precision == PRECISION_FP32 ? 4 : 2;
    const size_t R = (size_t)(c->batch * c->heads * c->ctx), S = R * (size_t)c->ctx;
    const size_t E = R * (size_t)c->d_head;
    switch (c->attention) {
    case ATTENTION_NAIVE: /* exp and its sum, and the probabilities, which 16 bit has twice */
        return 4 * E * w + 4 * S + 4 * R + (w == 4 ? 4 * S : 4 * S + 2 * S);
    case ATTENTION_FUSED: /* the probabilities */
        return 4 * E * w + S * w;
    default: /* the log-sum-exp of each row */
        return 4 * E * w + 4 * R;
    }
}

static void check_kept_in(const Config *c, Mode mode)
{
    Model model;
    Binding binding;
    ASSERT_OK(model_build(&model, c, mode, DT_F32));
    ASSERT_OK(binding_make(&binding, &model.plan, BACKEND_cpu, 2, NULL));
    const size_t got = attention_alone_before_backward(&model, &binding.mem);
    if (got != bytes_before_backward(c)) {
        fail_msg("%s %s: %zu bytes before backward, not %zu", name_of(c), config_modes[mode], got,
                 bytes_before_backward(c));
    }
    binding_free(&binding);
    model_free(&model);
}

static void check_kept(Config *c)
{
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    for (int p = 0; p < 3; p++) {
        for (int a = 0; a < N_ATTENTIONS; a++) {
            c->precision = precisions[p];
            c->attention = attentions[a];
            for (int mode = MODE_FWD_GRAD; mode <= MODE_FWD_BWD; mode++)
                check_kept_in(c, (Mode)mode);
        }
    }
}

static void memory_before_backward_is_the_formula(void **state)
{
    (void)state;
    each_shape(check_kept);
    Config large = alone_config(8, 16384, 16, 512, MASK_CAUSAL); /* 2^35 scores */
    check_kept(&large);
}

/* Its last product needs the probabilities; nothing else is left by then. */
static void forward_alone_keeps_nothing(void **state)
{
    (void)state;
    for (int a = 0; a < N_ATTENTIONS; a++) {
        Config c = alone_config(2, 64, 1, 8, MASK_CAUSAL);
        Model model;
        Binding binding;
        c.attention = attentions[a];
        ASSERT_OK(model_build(&model, &c, MODE_FWD, DT_F32));
        ASSERT_OK(binding_make(&binding, &model.plan, BACKEND_cpu, 2, NULL));
        assert_int_equal(model.alone.dout, PLAN_NONE);
        const size_t probabilities = a < 2 ? 2 * 64 * 64 * 4 : 0;
        assert_int_equal(mem_plan_carried(&binding.mem, &model.plan, model.plan.n_nodes - 1),
                         probabilities);
        binding_free(&binding);
        model_free(&model);
    }
}

/* ---- what it costs ---- */

static void check_flops(Config *c)
{
    const double pairs = (double)c->ctx * (double)c->ctx * (c->mask == MASK_CAUSAL ? 0.5 : 1);
    const double forward = 4.0 * (double)(c->batch * c->heads * c->d_head) * pairs;
    for (int a = 0; a < N_ATTENTIONS; a++) {
        for (int mode = MODE_FWD; mode <= MODE_FWD_BWD; mode++) {
            Model model;
            c->attention = attentions[a];
            ASSERT_OK(model_build(&model, c, (Mode)mode, DT_F32));
            const double want = mode == MODE_FWD_BWD ? 3 * forward : forward;
            assert_true(fabs(step_cost_of(&model.plan).step.matmul_flops - want) < 1e-9 * want);
            c->mode = (Mode)mode;
            assert_true(fabs(time_estimate_flops(c) - want) < 1e-9 * want);
            model_free(&model);
        }
    }
}

static void flops_are_those_of_the_products(void **state)
{
    (void)state;
    each_shape(check_flops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_implementation_computes_the_same),
        cmocka_unit_test(shared_heads_and_windows_compute_the_same),
        cmocka_unit_test(shared_heads_and_windows_cost_what_they_are),
        cmocka_unit_test(the_result_is_the_formula),
        cmocka_unit_test(inputs_are_normal_and_differ),
        cmocka_unit_test(inputs_depend_on_the_seed_alone),
        cmocka_unit_test(memory_before_backward_is_the_formula),
        cmocka_unit_test(forward_alone_keeps_nothing),
        cmocka_unit_test(flops_are_those_of_the_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
