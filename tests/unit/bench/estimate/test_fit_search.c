/* What `plan` says of a cell: its cost, its memory, and how far batch and context go. */
#include "bench/estimate/fit.h"
#include "bench/estimate/plan_cell.h"
#include "model_variants.h"
#include "ops/op.h"

#include <math.h>
#include <string.h>

static const size_t mib = (size_t)1 << 20;

static Placement on_cpu(void)
{
    Config c;
    Placement p;
    config_defaults(&c);
    c.threads = 2;
    assert_int_equal(placement_of(&c, &p), ST_OK);
    return p;
}

static Config preset(const char *size)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(model_spec_preset(&c.model, size), ST_OK);
    c.threads = 2;
    return c;
}

/* ---- cost ---- */

/* Every node is of one part, and of a part that has a name. */
static void check_parts(const Plan *plan, const StepCost *cost)
{
    PlanParts parts;
    PhaseCost sum = {0};
    plan_parts_of(&parts, plan);
    for (int p = 0; p < PLAN_PART_COUNT; p++) step_cost_add(&sum, &parts.step[p]);
    assert_int_equal(sum.nodes, cost->step.nodes);
    assert_true(fabs(sum.flops - cost->step.flops) <= 1e-12 * sum.flops);
    assert_true(fabs(sum.bytes - cost->step.bytes) <= 1e-12 * sum.bytes);
    assert_int_equal(parts.step[PLAN_PART_OTHER].nodes, 0);
    assert_true(parts.phase[PLAN_PART_HEAD][PHASE_FORWARD].matmul_flops == 2.0 * 5 * 9 * 24 * 101);
}

static void check_cost(const Config *config)
{
    Model model;
    variants_build(&model, config);
    const StepCost cost = step_cost_of(&model.plan);
    PhaseCost sum = {0};
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        const PhaseCost *one = &cost.phase[p];
        int begin = 0, end = 0;
        plan_phase_nodes(&model.plan, (Phase)p, &begin, &end);
        assert_int_equal(one->nodes, end - begin);
        assert_true(one->matmul_flops <= one->flops);
        sum.nodes += one->nodes;
        sum.flops += one->flops;
        sum.bytes += one->bytes;
    }
    assert_int_equal(cost.step.nodes, sum.nodes);
    assert_true(cost.step.flops == sum.flops && cost.step.bytes == sum.bytes);
    double products = 0;
    for (int i = 0; i < model.plan.n_nodes; i++) {
        const Node *node = &model.plan.nodes[i];
        if (!node->recomputed && plan_category_multiplies(plan_op_category(node->op)))
            products += op_cost(&model.plan, node).flops;
    }
    assert_true(fabs(cost.step.matmul_flops - products) <= 1e-12 * products);
    assert_true(step_cost_intensity(&cost.step) == sum.flops / sum.bytes);
    check_parts(&model.plan, &cost);
    model_free(&model);
}

static void test_cost(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_cost);
    const PhaseCost nothing = {0};
    assert_true(isnan(step_cost_intensity(&nothing)));
}

/* AdamW reads p, m, v, g and writes p, m, v once: 28 bytes a parameter in fp32. */
static void test_optimizer_bytes(void **state)
{
    (void)state;
    const Config c = preset("tiny");
    Model model;
    variants_build(&model, &c);
    const StepCost cost = step_cost_of(&model.plan);
    const double each = cost.phase[PHASE_OPTIMIZER].bytes / (double)model.n_elements;
    assert_true(each >= 28 && each < 28.01);
    assert_true(cost.phase[PHASE_OPTIMIZER].matmul_flops == 0);
    model_free(&model);
}

/* ---- the search ---- */

static size_t need_at(const Config *config, const Placement *place, int64_t batch, int64_t ctx)
{
    Config c = *config;
    size_t need = 0;
    c.batch = batch;
    c.ctx = ctx;
    assert_int_equal(fit_search_need(&c, place, c.mode, mib, &need), ST_OK);
    return need;
}

/* The answer fits, one more does not. */
static void check_answer(const Config *c, const Placement *place, const FitLimit *fit)
{
    if (fit->most_batch) assert_true(need_at(c, place, fit->most_batch, c->ctx) <= fit->limit);
    if (fit->most_ctx) assert_true(need_at(c, place, c->batch, fit->most_ctx) <= fit->limit);
    assert_true(need_at(c, place, fit->most_batch + 1, c->ctx) > fit->limit);
    assert_true(need_at(c, place, c->batch, fit->most_ctx + 1) > fit->limit);
    if (fit->fits) assert_true(fit->most_batch >= c->batch && fit->most_ctx >= c->ctx);
}

static void check_search(const Config *config)
{
    const Placement place = on_cpu();
    size_t need[MODE_COUNT] = {0};
    for (int mode = 0; mode <= (int)config->mode; mode++) {
        assert_int_equal(fit_search_need(config, &place, (Mode)mode, mib, &need[mode]), ST_OK);
    }
    const size_t asked = need[config->mode], base = fit_allowance(&place) + mib;
    FitLimit fits[] = {{.limit = 1},        {.limit = base},           {.limit = asked - 1},
                       {.limit = asked},    {.limit = base + 9 * mib}, {.limit = base + 100 * mib},
                       {.limit = 2 * asked}};
    enum { N = sizeof fits / sizeof *fits };
    assert_int_equal(fit_search(config, &place, mib, need, fits, N), ST_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(fits[i].fits, asked <= fits[i].limit);
        assert_int_equal(fits[i].short_by, fits[i].fits ? 0 : asked - fits[i].limit);
        assert_int_equal(fits[i].any, need[MODE_FWD] <= fits[i].limit);
        if (fits[i].any) assert_true(need[fits[i].mode] <= fits[i].limit);
        if (fits[i].any && fits[i].mode < config->mode)
            assert_true(need[fits[i].mode + 1] > fits[i].limit);
        check_answer(config, &place, &fits[i]);
    }
}

static void test_search(void **state)
{
    (void)state;
    const Config c = variants_config();
    variants_each(&c, check_search);
}

static void test_search_presets(void **state)
{
    (void)state;
    static const char *const sizes[] = {"tiny", "small", "2.7B"};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        Config c = preset(sizes[s]);
        check_search(&c);
        c.precision = PRECISION_BF16;
        c.attention = ATTENTION_NAIVE; /* the need grows with the square of ctx */
        check_search(&c);
    }
}

/* A large vocabulary, whose logits come in chunks beyond 2048 rows. */
static Config with_wide_head(Mode mode)
{
    Config c = preset("tiny");
    c.model.vocab = 20011;
    c.model.num_layers = 1;
    c.mode = mode;
    c.ctx = 256;
    c.batch = 1;
    return c;
}

/* Of all batches up to more than any chunk's edge: the one that is found fits, and no larger one does. */
static void test_search_with_chunks(void **state)
{
    (void)state;
    enum { MOST = 40, LIMITS = MOST / 4 };
    const Placement place = on_cpu();
    for (int mode = MODE_FWD; mode < MODE_COUNT; mode += MODE_TRAIN - MODE_FWD) {
        const Config c = with_wide_head((Mode)mode);
        size_t need[MOST + 1], modes[MODE_COUNT] = {0};
        FitLimit fits[LIMITS];
        for (int m = 0; m <= mode; m++)
            assert_int_equal(fit_search_need(&c, &place, (Mode)m, mib, &modes[m]), ST_OK);
        for (int b = 1; b <= MOST; b++) need[b] = need_at(&c, &place, b, c.ctx);
        for (int i = 0; i < LIMITS; i++) fits[i].limit = need[4 * i + 1] + (i % 2 ? 0 : mib);
        assert_int_equal(fit_search(&c, &place, mib, modes, fits, LIMITS), ST_OK);
        for (int i = 0; i < LIMITS; i++) {
            int most = 0;
            for (int b = 1; b <= MOST; b++) most = need[b] <= fits[i].limit ? b : most;
            if (most < MOST && fits[i].most_batch != most)
                fail_msg("%s: batch %d is the largest that fits in %zu bytes, not %d",
                         config_modes[mode], most, fits[i].limit, (int)fits[i].most_batch);
        }
    }
}

/* No memory is ever too small to say so, and none too large: sizes end where they cannot be addressed. */
static void test_search_without_end(void **state)
{
    (void)state;
    const Placement place = on_cpu();
    const Config c = preset("tiny");
    size_t need[MODE_COUNT];
    for (int m = 0; m < MODE_COUNT; m++) {
        assert_int_equal(fit_search_need(&c, &place, (Mode)m, 0, &need[m]), ST_OK);
    }
    FitLimit all = {.limit = (size_t)1 << 62};
    assert_int_equal(fit_search(&c, &place, 0, need, &all, 1), ST_OK);
    assert_true(all.most_batch > 1000000 && all.most_ctx > 1000000);
    assert_true(need_at(&c, &place, all.most_batch, c.ctx) < SIZE_MAX);
    assert_true(need_at(&c, &place, all.most_batch + 1, c.ctx) == SIZE_MAX);
    assert_true(need_at(&c, &place, c.batch, all.most_ctx + 1) == SIZE_MAX);
}

/* ---- a cell ---- */

static void test_cell(void **state)
{
    (void)state;
    const Config c = preset("small");
    const int64_t limits[] = {INT64_C(3) << 29, INT64_C(8) << 30};
    PlanCell cell;
    assert_int_equal(
        plan_cell_make(&cell, &c,
                       &(PlanRoom){.resident = 3 * mib, .limits = limits, .n_limits = 2}),
        ST_OK);
    assert_false(cell.unsupported);
    assert_int_equal(cell.parameters, 128625408);
    assert_int_equal(cell.attention, ATTENTION_FLASH);
    const PlanMemory *m = &cell.memory;
    size_t sum = 0;
    for (int k = 0; k < TK_COUNT; k++) sum += m->kind[k];
    assert_int_equal(sum, m->peak_live);
    assert_true(m->kind[TK_PARAM] >= 4 * 128625408 && m->kind[TK_MOMENT] >= 8 * (size_t)128625408);
    assert_int_equal(m->need[MODE_TRAIN], m->planned + m->allowance + 3 * mib);
    assert_true(m->peak_live <= m->planned && m->need[MODE_FWD] < m->need[MODE_FWD_BWD]);
    assert_true(m->peak_scope[0] != '\0');
    assert_int_equal(cell.n_fits, 2);
    assert_false(cell.fits[0].fits);
    assert_true(cell.fits[1].fits);
    assert_int_equal(cell.fits[0].mode, MODE_FWD_BWD);

    /* bench says the same */
    Fit fit;
    assert_int_equal(fit_make(&fit, &c, &cell.placement, 3 * mib, (size_t)limits[0]), ST_OK);
    assert_int_equal(fit.mode, cell.fits[0].mode);
    assert_int_equal(fit.need[MODE_TRAIN], m->need[MODE_TRAIN]);
    fit_free(&fit);
}

static void test_cell_on_this_machine(void **state)
{
    (void)state;
    const Config c = preset("tiny");
    PlanCell cell;
    size_t held = 0;
    assert_int_equal(fit_resident(&held), ST_OK);
    assert_true(held > 0 && held % (4 * mib) == 0);
    assert_int_equal(plan_cell_make(&cell, &c, &(PlanRoom){.resident = held}), ST_OK);
    assert_int_equal(cell.n_fits, 1);
    assert_true(cell.fits[0].limit > 0);
}

static void test_unsupported(void **state)
{
    (void)state;
    Config c = preset("tiny");
    PlanCell cell;
    c.precision = PRECISION_TF32;
    snprintf(c.device, sizeof c.device, "cpu");
    assert_int_equal(plan_cell_make(&cell, &c, &(PlanRoom){0}), ST_OK);
    assert_true(cell.unsupported);
    assert_non_null(strstr(cell.message, "tf32"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_optimizer_bytes),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_search_presets),
        cmocka_unit_test(test_search_with_chunks),
        cmocka_unit_test(test_search_without_end),
        cmocka_unit_test(test_cell),
        cmocka_unit_test(test_cell_on_this_machine),
        cmocka_unit_test(test_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
