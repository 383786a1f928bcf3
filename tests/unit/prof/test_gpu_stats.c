/* What a GPU's events add up to, without a GPU: gaps, overlaps, graphs, what belongs to no node. */
#include "plan/builder.h"
#include "prof/gpu_stats.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { US = 1000 };

static const char gemm[] = "gemm", add[] = "add", launch[] = "cudaLaunchKernel",
                  copy[] = "[CUDA memcpy]";

typedef struct Fixture {
    Plan plan;
    Binding binding;
    OpRows rows;
    RangeTree tree;
    GpuStats stats;
} Fixture;

/* forward: layer.0/a, layer.0/b, layer.1/a; backward: layer.1/a */
static void fill_plan(Plan *plan)
{
    static const struct {
        const char *scope;
        int layer;
        Phase phase;
    } nodes[] = {{"layer.0/attn/qkv", 0, PHASE_FORWARD},
                 {"layer.0/attn/output", 0, PHASE_FORWARD},
                 {"layer.1/attn/qkv", 1, PHASE_FORWARD},
                 {"layer.1/attn/qkv", 1, PHASE_BACKWARD}};
    Builder b;
    builder_init(&b, plan);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        const int x = builder_tensor(&b, "x", TK_INPUT, DT_F32, DIMS(2, 3));
        const int y = builder_like(&b, "y", x, DT_F32);
        b.phase = nodes[i].phase;
        builder_scope(&b, nodes[i].layer, strchr(nodes[i].scope, '/') + 1);
        builder_node(&b, OP_unary, IDS(y), IDS(x));
    }
    assert_int_equal(b.status, ST_OK);
    builder_free(&b);
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->plan = (Plan){0};
    fill_plan(&f->plan);
    assert_int_equal(binding_make(&f->binding, &f->plan, BACKEND_cpu, 1, NULL), ST_OK);
    assert_int_equal(op_rows_make(&f->rows, &f->binding), ST_OK);
    assert_int_equal(range_tree_make(&f->tree, &f->plan), ST_OK);
    assert_int_equal(gpu_stats_make(&f->stats, f->plan.n_nodes), ST_OK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    gpu_stats_free(&f->stats);
    range_tree_free(&f->tree);
    op_rows_free(&f->rows);
    binding_free(&f->binding);
    plan_free(&f->plan);
    free(f);
    return 0;
}

static TraceEvent kernel(const char *name, int node, int64_t begin, int64_t end, uint32_t id)
{
    return (TraceEvent){.kind = TRACE_KERNEL,
                        .name = name,
                        .brief = name,
                        .node = node,
                        .begin = begin * US,
                        .end = end * US,
                        .correlation = id};
}

static TraceEvent call(int64_t begin, int64_t end, uint32_t id)
{
    return (TraceEvent){.kind = TRACE_API,
                        .name = launch,
                        .node = -1,
                        .begin = begin * US,
                        .end = end * US,
                        .correlation = id};
}

static void add_step(Fixture *f, TraceEvent *events, size_t n)
{
    assert_int_equal(gpu_stats_pass(&f->stats, &f->rows, &f->tree, &f->plan, events, n), ST_OK);
    gpu_stats_step_end(&f->stats);
}

static void near_us(double seconds, double us)
{
    assert_true(fabs(seconds * 1e6 - us) < 1e-6);
}

static const Range *range(const Fixture *f, Phase phase, const char *name)
{
    for (int i = 0; i < f->tree.n; i++) {
        if (f->tree.ranges[i].phase == phase && strcmp(f->tree.ranges[i].name, name) == 0)
            return &f->tree.ranges[i];
    }
    fail_msg("no range %s", name);
    return NULL;
}

/* Out of order, with a gap of 5, one of 10, an overlap, and a phase that begins long after. */
static void test_step(void **state)
{
    Fixture *f = *state;
    TraceEvent events[] = {
        kernel(gemm, 1, 25, 35, 2),
        kernel(gemm, 0, 10, 20, 1),
        kernel(add, 1, 30, 40, 3),
        kernel(gemm, 2, 50, 60, 4),
        kernel(gemm, 3, 500, 520, 5),
        call(5, 8, 1),
        call(20, 22, 2),
        call(30, 31, 3),
    };
    events[5].node = 1;
    add_step(f, events, sizeof events / sizeof *events);
    const GpuPhase *forward = &f->stats.phases[PHASE_FORWARD];
    near_us(forward->busy, 10 + 15 + 10);
    near_us(forward->work, 40);
    near_us(forward->span.sum, 50);
    assert_int_equal(forward->kernels, 4);
    near_us(f->stats.phases[PHASE_BACKWARD].span.sum, 20);
    assert_int_equal(f->stats.gaps.n, 2); /* not the one between phases: there the host waits */
    near_us(f->stats.gaps.sum, 15);
    near_us(f->stats.longest, 10);
    assert_int_equal(f->stats.longest_after, 1);
    assert_int_equal(f->stats.longest_before, 2);
    assert_int_equal(f->stats.latency.n, 3);
    near_us(f->stats.latency.sum, 5 + 5 + 0);
    assert_int_equal(f->stats.unattributed, 0);
    near_us(f->stats.compute, 60);
    assert_int_equal(f->stats.by_name.n, 2);
    assert_int_equal(f->stats.by_row.n, 4);
    assert_int_equal(f->stats.calls.list[0].seconds.n, 3);
    assert_int_equal(f->stats.row_calls.n, 2); /* of the op that launched, and of none */
    assert_int_equal(f->stats.row_calls.list[0].row, f->rows.row[1]);
    assert_int_equal(f->stats.row_calls.list[1].row, -1);
    assert_int_equal(f->stats.row_calls.list[1].seconds.n, 2);
}

static const NameStats *in_phase(const NameStatsTable *names, int phase, const char *name)
{
    for (int i = 0; i < names->n; i++) {
        if (names->list[i].row == phase && names->list[i].name == name) return &names->list[i];
    }
    return NULL;
}

/* Kernels by name in each phase, and nodes by op: `gemm` runs in both phases, a memset in one of them. */
static void test_names(void **state)
{
    Fixture *f = *state;
    static const char unary[] = "unary (plain)", set[] = "[CUDA memset]";
    for (int i = 0; i < f->rows.n; i++) f->rows.rows[i].brief = unary;
    TraceEvent events[] = {kernel(gemm, 0, 10, 20, 1),  kernel(gemm, 2, 30, 34, 2),
                           kernel(add, 2, 40, 41, 3),   kernel(gemm, 3, 50, 57, 4),
                           kernel(gemm, -1, 60, 61, 5), kernel(set, 3, 70, 72, 6)};
    events[5].kind = TRACE_MEMSET;
    add_step(f, events, sizeof events / sizeof *events);
    const NameStats *forward = in_phase(&f->stats.by_phase, PHASE_FORWARD, gemm);
    assert_int_equal(forward->seconds.n, 2);
    near_us(forward->seconds.sum, 14);
    near_us(forward->seconds.max, 10);
    near_us(in_phase(&f->stats.by_phase, PHASE_FORWARD, add)->seconds.sum, 1);
    near_us(in_phase(&f->stats.by_phase, PHASE_BACKWARD, gemm)->seconds.sum, 7);
    near_us(in_phase(&f->stats.by_phase, -1, gemm)->seconds.sum, 1);
    assert_int_equal(in_phase(&f->stats.by_phase, PHASE_BACKWARD, set)->kind, TRACE_MEMSET);
    assert_int_equal(f->stats.by_phase.n, 5);
    /* a node's kernels count as one run of its op */
    const NameStats *op = in_phase(&f->stats.by_op, PHASE_FORWARD, unary);
    assert_int_equal(op->seconds.n, 2);
    near_us(op->seconds.max, 10);
    near_us(op->seconds.min, 5);
    near_us(in_phase(&f->stats.by_op, NAME_STATS_ANY_ROW, unary)->seconds.sum, 10 + 5 + 9);
}

/* From the latest end to the next begin: a call within another leaves no gap, nor does a new step. */
static void test_call_gaps(void **state)
{
    Fixture *f = *state;
    TraceEvent first[] = {call(0, 10, 1), call(2, 4, 2), call(12, 13, 3), call(113, 114, 4)};
    TraceEvent second[] = {call(1000, 1001, 5), call(1004, 1005, 6)};
    static const char sync[] = "cudaStreamSynchronize";
    first[3].name = sync;
    add_step(f, first, 4);
    add_step(f, second, 2);
    const HostGaps *gaps = &f->stats.call_gaps;
    assert_int_equal(gaps->seconds.n, 3);
    near_us(gaps->seconds.sum, 2 + 100 + 3);
    near_us(gaps->seconds.max, 100);
    near_us(running_stats_quantile(&gaps->seconds, 0.5), 3);
    assert_ptr_equal(gaps->after, launch);
    assert_ptr_equal(gaps->before, sync);
}

/* The ranges of a step, and that the next one starts afresh. */
static void test_ranges(void **state)
{
    Fixture *f = *state;
    for (int step = 0; step < 2; step++) {
        const int64_t at = 1000 * step;
        TraceEvent events[] = {kernel(gemm, 0, at + 10, at + 20, 1),
                               kernel(gemm, 1, at + 25, at + 35, 2),
                               kernel(gemm, 2, at + 40, at + 45, 3)};
        add_step(f, events, 3);
    }
    const Range *layer = range(f, PHASE_FORWARD, "layer.0/attn");
    assert_int_equal(layer->span.n, 2);
    near_us(layer->span.max, 25);
    near_us(layer->device, 2 * 20);
    assert_int_equal(layer->kernels, 4);
    near_us(range(f, PHASE_FORWARD, "layer.1")->device, 2 * 5);
    assert_int_equal(range(f, PHASE_BACKWARD, "layer.1")->span.n, 0);
    double rows = 0;
    for (int i = 0; i < f->rows.n; i++) rows += f->rows.rows[i].device.sum;
    near_us(rows, 2 * 25);
}

/* A copy that no node made counts as what it is, and belongs to no phase; a graph's kernels share a
 * launch, and only the first waited for it. */
static void test_others(void **state)
{
    Fixture *f = *state;
    TraceEvent events[] = {
        kernel(gemm, 0, 10, 20, 9),
        kernel(gemm, 1, 22, 30, 9),
        call(1, 4, 9),
        {.kind = TRACE_MEMCPY,
         .name = copy,
         .node = -1,
         .begin = 40 * US,
         .end = 43 * US,
         .gpu = {.bytes = 64}},
        {.kind = TRACE_OVERHEAD, .name = "overhead", .node = -1, .begin = 0, .end = 7 * US}};
    add_step(f, events, sizeof events / sizeof *events);
    assert_int_equal(f->stats.unattributed, 1);
    near_us(f->stats.unattributed_seconds, 3);
    near_us(f->stats.copies, 3);
    near_us(f->stats.overhead, 7);
    assert_int_equal(f->stats.latency.n, 1);
    near_us(f->stats.latency.sum, 9);
    near_us(f->stats.phases[PHASE_FORWARD].work, 18);
    assert_int_equal(f->stats.by_brief.n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_step, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ranges, setup, teardown),
        cmocka_unit_test_setup_teardown(test_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_call_gaps, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
