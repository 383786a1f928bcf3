/* Events of several steps handed over at once find their steps. */
#include "plan/builder.h"
#include "prof/profiler.h"
#include "with_cmocka.h"

#include <time.h>

static void fill_plan(Plan *plan)
{
    Builder b;
    builder_init(&b, plan);
    const int x = builder_tensor(&b, "x", TK_INPUT, DT_F32, DIMS(2, 3));
    for (int phase = PHASE_FORWARD; phase <= PHASE_BACKWARD; phase++) {
        b.phase = (Phase)phase;
        builder_scope(&b, 0, "attn/qkv");
        builder_node(&b, OP_unary, IDS(builder_like(&b, "y", x, DT_F32)), IDS(x));
    }
    assert_int_equal(b.status, ST_OK);
    builder_free(&b);
}

static TraceEvent kernel(int node, int64_t begin)
{
    return (TraceEvent){.kind = TRACE_KERNEL,
                        .name = "k",
                        .brief = "k",
                        .node = node,
                        .begin = begin,
                        .end = begin + 100,
                        .correlation = 1};
}

static void count(const Profiler *p, TraceKind kind, int step, int expected)
{
    int n = 0;
    for (size_t i = 0; i < p->log.n; i++)
        n += p->log.events[i].kind == kind && p->log.events[i].step == step;
    assert_int_equal(n, expected);
}

static void test_batch(void **state)
{
    (void)state;
    enum { STEPS = 5, TRACED = 2 };
    Plan plan;
    Binding binding;
    Profiler p;
    TraceEvent events[2 * STEPS];
    plan = (Plan){0};
    fill_plan(&plan);
    assert_int_equal(binding_make(&binding, &plan, BACKEND_cpu, 1, NULL), ST_OK);
    assert_int_equal(profiler_open(&p, &binding, true, TRACED), ST_OK);
    for (int i = 0; i < STEPS; i++) {
        profiler_step_begin(&p);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        assert_int_equal(profiler_step_end(&p), ST_OK);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    assert_int_equal(p.n_pending, STEPS);
    for (int i = 0; i < STEPS; i++) { /* the later ones first */
        const int64_t begin = p.pending[STEPS - 1 - i].begin;
        events[2 * i] = kernel(1, begin + 5000);
        events[2 * i + 1] = kernel(0, begin - 300); /* clocks differ a little */
    }
    assert_int_equal(profiler_device_events(&p, events, 2 * STEPS), ST_OK);
    assert_int_equal(p.n_pending, 0);
    for (int phase = PHASE_FORWARD; phase <= PHASE_BACKWARD; phase++) {
        assert_int_equal(p.gpu.phases[phase].span.n, STEPS);
        assert_int_equal(p.gpu.phases[phase].kernels, STEPS);
    }
    assert_int_equal(p.gpu.gaps.n, 0);
    for (int step = 0; step < STEPS; step++) {
        count(&p, TRACE_KERNEL, step, step < TRACED ? 2 : 0);
        count(&p, TRACE_PROJECTED, step, step < TRACED ? 2 : 0);
        count(&p, TRACE_STEP, step, step < TRACED ? 1 : 0);
    }
    profiler_close(&p);
    binding_free(&binding);
    plan_free(&plan);
}

/* Micro-batches: a span of each for a range, one of all for a phase. */
static void test_micro_batches(void **state)
{
    (void)state;
    enum { MICRO_BATCHES = 3 };
    Plan plan = {.micro_batches = MICRO_BATCHES};
    Binding binding;
    Profiler p;
    fill_plan(&plan);
    assert_int_equal(binding_make(&binding, &plan, BACKEND_cpu, 1, NULL), ST_OK);
    assert_int_equal(profiler_open(&p, &binding, true, 1), ST_OK);
    assert_int_equal(p.rows.rows[0].nodes, MICRO_BATCHES);
    profiler_step_begin(&p);
    for (int i = 1; i <= MICRO_BATCHES; i++) {
        TraceEvent events[2];
        for (int phase = PHASE_FORWARD; phase <= PHASE_BACKWARD; phase++) {
            profiler_phase_begin(&p);
            events[phase - PHASE_FORWARD] = kernel(phase - PHASE_FORWARD, p.phase_begin + 10);
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
            assert_int_equal(profiler_phase_end(&p, (Phase)phase), ST_OK);
        }
        if (i < MICRO_BATCHES)
            profiler_micro_batch_end(&p);
        else
            assert_int_equal(profiler_step_end(&p), ST_OK);
        assert_int_equal(profiler_device_events(&p, events, 2), ST_OK);
    }
    assert_int_equal(p.steps, 1);
    for (int phase = PHASE_FORWARD; phase <= PHASE_BACKWARD; phase++) {
        assert_int_equal(p.phases[phase].n, 1);
        assert_true(p.phases[phase].sum >= MICRO_BATCHES * 100e-6);
        assert_int_equal(p.gpu.phases[phase].span.n, 1);
        assert_int_equal(p.gpu.phases[phase].kernels, MICRO_BATCHES);
        assert_true(p.gpu.phases[phase].span.sum < 100e-6); /* nothing of the time between them */
    }
    for (int i = 0; i < p.ranges.n; i++) {
        assert_int_equal(p.ranges.ranges[i].span.n, MICRO_BATCHES);
        assert_true(p.ranges.ranges[i].span.max < 1e-6);
    }
    assert_true(p.step.sum >= p.phases[PHASE_FORWARD].sum + p.phases[PHASE_BACKWARD].sum);
    count(&p, TRACE_KERNEL, 0, 2 * MICRO_BATCHES);
    count(&p, TRACE_PHASE, 0, 2 * MICRO_BATCHES);
    count(&p, TRACE_STEP, 0, 1);
    profiler_close(&p);
    binding_free(&binding);
    plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batch),
                                       cmocka_unit_test(test_micro_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
