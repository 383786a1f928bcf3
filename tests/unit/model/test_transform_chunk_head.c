/* Head and loss in chunks of rows: the same numbers to rounding as with whole logits, with less memory. */
#include "memory_map.h"
#include "model/step_cost.h"
#include "model/transform_chunk_head.h"
#include "poison_harness.h"

/* 33 rows of 53 logits. */
static Config chunked_config(Precision precision, int64_t rows)
{
    Config c = small_config();
    c.precision = precision;
    c.head_rows = rows;
    return c;
}

/* ---- the same numbers ---- */

/* In bf16 the gradient of the head's weight is rounded once for each chunk. */
static double bound_of(Precision precision)
{
    return precision == PRECISION_FP32 ? 1e-6 : 3e-2;
}

/* Gradients without their loss scales. */
static void check_gradients(Step *got, Step *want, double bound, const char *what)
{
    const double scale = loss_scale(got) / loss_scale(want);
    forward_backward(got);
    forward_backward(want);
    for (int p = 0; p < want->model.n_params; p++) {
        const Param *a = &got->model.params[p], *b = &want->model.params[p];
        const double error = tensor_error(got, a->grad, scale, want, b->grad);
        if (!(error <= bound)) fail_msg("%s: gradient of %s is off by %g", what, a->name, error);
    }
}

static void check_same(const Config *config)
{
    Config c = *config;
    char what[64];
    Step chunked, whole;
    const double bound = bound_of(c.precision);
    snprintf(what, sizeof what, "%s, %d rows at a time", config_precisions[c.precision],
             (int)c.head_rows);
    open_step(&chunked, &c, MODE_TRAIN, DT_F32, 2);
    c.head_rows = CONFIG_HEAD_WHOLE;
    open_step(&whole, &c, MODE_TRAIN, DT_F32, 2);
    assert_true(chunked.model.head.n > 1);
    assert_int_equal(whole.model.head.n, 1);
    const double loss = loss_of(&chunked), want = loss_of(&whole);
    if (!(fabs(loss - want) <= bound * want)) fail_msg("%s: loss %.9g, not %.9g", what, loss, want);
    check_gradients(&chunked, &whole, bound, what);
    close_step(&chunked);
    close_step(&whole);
}

/* Of 33 rows: chunks of one, an odd rest, one row left over, two halves but one. */
static const int64_t rows_at_a_time[] = {1, 7, 16, 32, 17};
enum { N_ROWS = sizeof rows_at_a_time / sizeof *rows_at_a_time };

static void test_numbers(void **state)
{
    (void)state;
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
        for (int i = 0; i < N_ROWS; i++) {
            Config c = chunked_config(precisions[p], rows_at_a_time[i]);
            check_same(&c);
            c.model.tied = true; /* the embedding adds its gradient to the head's */
            check_same(&c);
        }
    }
}

/* The loss scale enters as it does with whole logits: gradients carry it, and an overflow lowers it. */
static void test_loss_scale(void **state)
{
    (void)state;
    Config c = chunked_config(PRECISION_FP16, 16);
    Step s, plain;
    open_step(&s, &c, MODE_TRAIN, DT_F32, 1);
    assert_true(loss_scale(&s) == STEP_STATE_FIRST_SCALE);
    double *at = (double *)harness_host(&s.run, s.model.state) + STATE_LOSS_SCALE;
    *at = 1024;
    c.head_rows = CONFIG_HEAD_WHOLE;
    open_step(&plain, &c, MODE_TRAIN, DT_F32, 1);
    check_gradients(&s, &plain, 3e-2, "loss scale 1024 and 65536");
    *at = 1e9; /* beyond fp16 */
    run_steps(&s, 1);
    assert_true(loss_scale(&s) == 0.5e9);
    assert_true(harness_get(&s.run, s.model.state, STATE_SKIPPED) == 1);
    close_step(&plain);
    close_step(&s);
}

/* Whatever runs in between, and forward alone, has the same loss to the bit. */
static void test_modes(void **state)
{
    (void)state;
    double losses[MODE_COUNT];
    const Config c = chunked_config(PRECISION_BF16, 16);
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        Step s;
        open_step(&s, &c, (Mode)mode, DT_F32, 2);
        assert_int_equal(s.model.head.n, 3);
        losses[mode] = loss_of(&s);
        assert_true(losses[mode] == losses[0]);
        close_step(&s);
    }
}

/* Whoever reads what is no longer alive gets NaN. */
static void test_poisoned(void **state)
{
    (void)state;
    const Config c = chunked_config(PRECISION_BF16, 16);
    for (int every = 0; every < 2; every++) {
        Config again = c;
        Poison poison;
        Step s, plain;
        again.recompute = every;
        open_step(&plain, &c, MODE_TRAIN, DT_F32, 2);
        open_step(&s, &again, MODE_TRAIN, DT_F32, 2);
        poison_open(&poison, &s.run.session);
        run_steps(&plain, 2);
        run_steps(&s, 2);
        for (int p = 0; p < s.model.n_params; p++)
            assert_true(tensor_error(&s, s.model.params[p].tensor, 1, &plain,
                                     plain.model.params[p].tensor) == 0);
        poison_close(&poison);
        close_step(&s);
        close_step(&plain);
    }
}

/* ---- memory and cost ---- */

typedef struct Bound {
    Model model;
    Binding binding;
} Bound;

static void open_bound(Bound *b, const Config *c, Mode mode)
{
    ASSERT_OK(model_build(&b->model, c, mode, DT_F32));
    ASSERT_OK(binding_make(&b->binding, &b->model.plan, BACKEND_cpu, 2, NULL));
    memory_map_check(&b->model.plan, &b->binding.mem, b->binding.workspace);
}

static void close_bound(Bound *b)
{
    binding_free(&b->binding);
    model_free(&b->model);
}

/* Logits that are by far the largest tensor. */
static Config wide_config(void)
{
    Config c = small_config();
    c.model.vocab = 8192;
    c.batch = 32;
    c.ctx = 16;
    return c;
}

/* Most bytes alive at once, workspaces apart: those of the products become smaller, too. */
static double peak(const Bound *b)
{
    size_t *live = NULL, most = 0;
    const Plan *plan = &b->model.plan;
    ASSERT_OK(mem_plan_timeline(&b->binding.mem, plan, b->binding.workspace, &live));
    for (int n = 0; n < plan->n_nodes; n++) {
        size_t sum = 0;
        for (int k = 0; k < TK_WORKSPACE; k++) sum += live[n * TK_COUNT + k];
        if (sum > most) most = sum;
    }
    free(live);
    return (double)most;
}

/* The peak falls by what the chunks take less, but for small change. */
static void test_peak(void **state)
{
    (void)state;
    static const Mode modes[] = {MODE_FWD, MODE_FWD_BWD, MODE_TRAIN};
    Config c = wide_config();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        Bound whole, chunked;
        c.head_rows = CONFIG_HEAD_WHOLE;
        open_bound(&whole, &c, modes[i]);
        c.head_rows = 128;
        open_bound(&chunked, &c, modes[i]);
        const double saved = (512 - 128) * 8192 * 4;
        const double less = peak(&whole) - peak(&chunked);
        if (!(fabs(less - saved) < 0.02 * saved))
            fail_msg("%s: the peak falls by %.0f bytes, not %.0f", config_modes[modes[i]], less,
                     saved);
        assert_true(mem_plan_total(&chunked.binding.mem) < mem_plan_total(&whole.binding.mem));
        close_bound(&chunked);
        close_bound(&whole);
    }
}

static double flops(const Model *model, Phase phase)
{
    return step_cost_of(&model->plan).phase[phase].matmul_flops;
}

/* The same products in all; those of the head's gradients run in the forward phase. */
static void test_flops(void **state)
{
    (void)state;
    Config c = wide_config();
    Bound whole, chunked;
    c.head_rows = CONFIG_HEAD_WHOLE;
    open_bound(&whole, &c, MODE_TRAIN);
    c.head_rows = 128;
    open_bound(&chunked, &c, MODE_TRAIN);
    const double product = 2.0 * 512 * 8192 * 24;
    assert_true(flops(&chunked.model, PHASE_FORWARD) ==
                flops(&whole.model, PHASE_FORWARD) + 2 * product);
    assert_true(flops(&chunked.model, PHASE_BACKWARD) ==
                flops(&whole.model, PHASE_BACKWARD) - 2 * product);
    close_bound(&chunked);
    close_bound(&whole);
}

/* A forward pass with gradients enabled is that of the training step. What waits for backward is the
 * gradients of the head's input and weight, where whole logits and their lse wait otherwise. */
static void check_forward_with_gradients(int64_t vocab)
{
    Config c = wide_config();
    Bound train, alone, whole;
    c.model.vocab = vocab;
    c.head_rows = 128;
    open_bound(&train, &c, MODE_TRAIN);
    open_bound(&alone, &c, MODE_FWD_GRAD);
    c.head_rows = CONFIG_HEAD_WHOLE;
    open_bound(&whole, &c, MODE_FWD_GRAD);
    int begin = 0, end = 0;
    plan_phase_nodes(&train.model.plan, PHASE_FORWARD, &begin, &end);
    assert_int_equal(alone.model.plan.n_nodes, end);
    const size_t left = mem_plan_left(&alone.binding.mem, &alone.model.plan);
    const size_t left_whole = mem_plan_left(&whole.binding.mem, &whole.model.plan);
    assert_int_equal(left, mem_plan_carried(&train.binding.mem, &train.model.plan, end));
    const size_t gone = 4 * 512 * (8192 + 1 + 24), come = 4 * (512 + (size_t)vocab) * 24;
    assert_int_equal(left_whole - gone + come, left);
    close_bound(&whole);
    close_bound(&alone);
    close_bound(&train);
}

static void test_forward_with_gradients(void **state)
{
    (void)state;
    check_forward_with_gradients(8192);
    check_forward_with_gradients(8189); /* rows of 8192 */
}

/* Rows of logits and of their gradient begin at multiples of 16 bytes; those of eager follow each other. */
static void test_aligned_rows(void **state)
{
    (void)state;
    static const struct {
        int64_t vocab;
        Precision precision;
        Exec exec;
        int64_t ld;
    } cases[] = {{53, PRECISION_BF16, EXEC_FUSED, 56}, {53, PRECISION_FP32, EXEC_FUSED, 56},
                 {49, PRECISION_BF16, EXEC_FUSED, 56}, {49, PRECISION_FP32, EXEC_FUSED, 52},
                 {48, PRECISION_BF16, EXEC_FUSED, 48}, {53, PRECISION_BF16, EXEC_EAGER, 53}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Bound b;
        Config c = chunked_config(cases[i].precision, i % 2 ? 16 : CONFIG_HEAD_WHOLE);
        c.model.vocab = cases[i].vocab;
        c.exec = cases[i].exec;
        open_bound(&b, &c, MODE_TRAIN);
        const Plan *plan = &b.model.plan;
        assert_int_equal(plan->tensors[b.model.logits].ld, cases[i].ld);
        for (int n = 0; n < plan->n_nodes; n++) {
            if (plan->nodes[n].op != OP_cross_entropy_grad) continue;
            assert_int_equal(plan_out(plan, &plan->nodes[n], 0)->ld, cases[i].ld);
            assert_int_equal(b.binding.mem.alias_of[plan_out_id(plan, &plan->nodes[n], 0)],
                             plan_in_id(plan, &plan->nodes[n], 1)); /* in place */
        }
        close_bound(&b);
    }
}

/* ---- when ---- */

static Config sized(int64_t d_model, int64_t d_ff, int64_t vocab, int64_t N)
{
    Config c;
    config_defaults(&c);
    c.model.d_model = d_model;
    c.model.d_ff = d_ff;
    c.model.vocab = vocab;
    c.ctx = N / 4;
    c.batch = 4;
    return c;
}

static void test_when(void **state)
{
    (void)state;
    static const struct {
        int64_t d_model, d_ff, vocab, N, rows;
    } cases[] = {
        {768, 3072, 10000, 1 << 20, 1 << 20}, /* small, at any size: blocks need as much */
        {2560, 10240, 10000, 65536, 65536},   /* 2.7B */
        {768, 3072, 50257, 16384, 3328},      /* GPT-2 */
        {2048, 8192, 128256, 8192, 2048},     /* Llama 1B */
        {1024, 3072, 151936, 8192, 2048},     /* Qwen3 0.6B: no fewer rows than that */
        {4096, 14336, 32000, 8192, 8192},     /* Mistral 7B */
        {768, 3072, 50257, 2048, 2048},       /* no fewer than that: one chunk */
        {768, 3072, 50257, 2052, 2048},       /* the rest is a chunk of its own */
        {768, 3072, 50257, 4096, 2048},       {768, 3072, 50257, 5000, 2048},
        {768, 3072, 50257, 12000, 2432}, /* a fifth, in tiles */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Config c = sized(cases[i].d_model, cases[i].d_ff, cases[i].vocab, cases[i].N);
        assert_int_equal(transform_chunk_head_rows(&c, cases[i].N), cases[i].rows);
        c.exec = EXEC_EAGER;
        assert_int_equal(transform_chunk_head_rows(&c, cases[i].N), cases[i].N);
    }
}

/* More tokens never take fewer rows, so that what fits does so up to one batch and not beyond. */
static void test_grows(void **state)
{
    (void)state;
    const Config c = sized(768, 3072, 50257, 4096);
    for (int64_t N = 1, last = 0; N < 40000; N++) {
        const int64_t rows = transform_chunk_head_rows(&c, N);
        if (rows < last || rows > N)
            fail_msg("%d rows of %d, %d of fewer", (int)rows, (int)N, (int)last);
        last = rows;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),      cmocka_unit_test(test_loss_scale),
        cmocka_unit_test(test_modes),        cmocka_unit_test(test_poisoned),
        cmocka_unit_test(test_peak),         cmocka_unit_test(test_flops),
        cmocka_unit_test(test_when),         cmocka_unit_test(test_grows),
        cmocka_unit_test(test_aligned_rows), cmocka_unit_test(test_forward_with_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
