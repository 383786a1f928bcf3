#include "bench/record/profile_figure.h"
#include "with_cmocka.h"

#include <math.h>
#include <string.h>

enum { OPS = 5, KERNELS = 6, RANGES = 4 };

/* A profile of a step of two layers, and what it points to. */
typedef struct Seen {
    ViewOp ops[OPS];
    ViewName kernels[KERNELS], names[2];
    ViewRange ranges[RANGES];
    Record *record;
    ProfileView view;
} Seen;

static const ViewOp ops[OPS] = {
    {.phase = PHASE_FORWARD,
     .category = CATEGORY_matmul,
     .part = "QKV projections",
     .nodes = 3,
     .time = {.n = 6, .total = 12e6}},
    {.phase = PHASE_FORWARD,
     .category = CATEGORY_softmax,
     .part = "softmax",
     .nodes = 10,
     .time = {.n = 20, .total = 4e6}},
    {.phase = PHASE_FORWARD,
     .category = CATEGORY_elementwise,
     .part = "residual",
     .nodes = 2,
     .time = {.n = 4, .total = 2e6}},
    {.phase = PHASE_BACKWARD,
     .category = CATEGORY_matmul,
     .nodes = 2,
     .time = {.n = 4, .total = 24e6}},
    {.phase = PHASE_BACKWARD,
     .category = CATEGORY_loss,
     .nodes = 1,
     .time = {.n = 2, .total = 2e6}},
};

/* Two steps. `sgemm` runs forward in 1, 2 and 3 ms and backward in 5 and 7. */
static const ViewName kernels[KERNELS] = {
    {.kind = "kernel",
     .brief = "sgemm",
     .row = 0,
     .time = {6, 12e6, 2e6, 2e6, 1e6, 3e6, 894427.1909999159}},
    {.kind = "kernel", .brief = "small", .row = 1, .time = {20, 4e6, 2e5, 2e5, 1e5, 3e5, 1e4}},
    {.kind = "kernel", .brief = "small", .row = 2, .time = {4, 2e6, 5e5, 5e5, 5e5, 5e5, 0}},
    {.kind = "kernel",
     .brief = "sgemm",
     .row = 3,
     .time = {4, 24e6, 6e6, 6e6, 5e6, 7e6, 1154700.5383792515}},
    {.kind = "kernel", .brief = "nll", .row = 4, .time = {2, 2e6, 1e6, 1e6, 1e6, 1e6, 0}},
    {.kind = "memset",
     .brief = "[CUDA memset]",
     .row = 0,
     .time = {2, 99e6, 1e6, 1e6, 1e6, 1e6, 0}},
};

static const ViewRange ranges[RANGES] = {
    {.phase = PHASE_FORWARD, .name = "layer.0/attn/ln1", .level = 2, .host = {.total = 9e6}},
    {.phase = PHASE_FORWARD, .name = "layer.0/attn/scores", .level = 2, .host = {.total = 3e6}},
    {.phase = PHASE_FORWARD, .name = "layer.1/attn/scores", .level = 2, .host = {.total = 5e6}},
    {.phase = PHASE_FORWARD, .name = "layer.1/attn/softmax", .level = 2, .host = {.total = 4e6}},
};

static Seen *seen(void)
{
    static Seen s;
    memcpy(s.ops, ops, sizeof ops);
    memcpy(s.kernels, kernels, sizeof kernels);
    memcpy(s.ranges, ranges, sizeof ranges);
    s.names[0] =
        (ViewName){.name = "[CUDA memcpy Host-to-Device]", .kind = "copy", .time = {.total = 1e6}};
    s.names[1] = (ViewName){.name = "[CUDA memset]", .kind = "memset", .time = {.total = 3e6}};
    s.view = (ProfileView){.record = s.record,
                           .steps = 2,
                           .step = {.total = 60e6, .std = 2e6},
                           .ops = s.ops,
                           .kernels = s.kernels,
                           .names = s.names,
                           .ranges = s.ranges,
                           .n_ops = OPS,
                           .n_kernels = KERNELS,
                           .n_names = 2,
                           .n_ranges = RANGES};
    s.view.phases[PHASE_FORWARD] =
        (ViewPhase){.there = true, .wall = {.avg = 10e6, .std = 1e6}, .nodes = 18e6, .kernels = 14};
    return &s;
}

static int setup(void **state)
{
    seen()->record = json_pack("{s:i}", "num_layers", 2);
    (void)state;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    json_decref(seen()->record);
    return 0;
}

static void assert_figure(const ProfileView *v, const char *what, double expected)
{
    const double x = profile_figure(v, what);
    if (!(fabs(x - expected) <= 1e-9 * expected)) fail_msg("%s: %g, not %g", what, x, expected);
}

static void times(void **state)
{
    const ProfileView *v = &seen()->view;
    (void)state;
    assert_figure(v, "ms forward", 10);
    assert_figure(v, "std forward", 1);
    assert_figure(v, "total forward", 20);
    assert_figure(v, "ms step", 30);
    assert_figure(v, "ms own forward", 1);
    assert_figure(v, "ms part softmax", 2);
    assert_figure(v, "ms part QKV projections", 6);
    assert_figure(v, "ms attention", 8);
    assert_figure(v, "ms linear", 6);
    assert_figure(v, "ms misc", 0);
    assert_figure(v, "ms beside", 1);
    assert_figure(v, "ms device", 22);
    assert_figure(v, "ms device backward", 13);
}

static void shares(void **state)
{
    const ProfileView *v = &seen()->view;
    (void)state;
    assert_figure(v, "share of forward matmul", 100 * 12.0 / 18);
    assert_figure(v, "share in forward matmul", 60);
    assert_figure(v, "share category matmul forward", 100 * 12.0 / 44);
    assert_figure(v, "share category matmul", 100 * 36.0 / 44);
    assert_true(isnan(profile_figure(v, "share category optimizer"))); /* not the phase */
    assert_figure(v, "share category other", 100 * 2.0 / 44);
    assert_figure(v, "share attention", 100 * 16.0 / 18);
    assert_figure(v, "share part softmax", 25);
    assert_figure(v, "share beside", 100 * 2.0 / 18);
}

static void launches(void **state)
{
    ProfileView *v = &seen()->view;
    (void)state;
    assert_figure(v, "calls forward", 15); /* a CPU's are its ops */
    assert_figure(v, "all_calls forward", 30);
    assert_figure(v, "calls part softmax", 10);
    v->gpu = true;
    assert_figure(v, "calls forward", 7);
    assert_figure(v, "calls part softmax", 10); /* its kernels, 20 in two steps */
}

static void kernels_by_rank(void **state)
{
    const ProfileView *v = &seen()->view;
    (void)state;
    assert_string_equal(profile_figure_kernel(v, "kernel 1"), "sgemm");
    assert_string_equal(profile_figure_kernel(v, "kernel 2 forward"), "small");
    assert_string_equal(profile_figure_kernel(v, "kernel 3"), "nll");
    assert_null(profile_figure_kernel(v, "kernel 4"));
    assert_null(profile_figure_kernel(v, "kernel 2 matmul"));
    assert_null(profile_figure_kernel(v, "kernel"));
    assert_figure(v, "calls kernel 1 forward", 3);
    assert_figure(v, "share kernel 1 forward", 100 * 12.0 / 18);
    assert_figure(v, "share kernel 1", 100 * 36.0 / 44);
    assert_figure(v, "all_calls kernel 1", 10);
    assert_figure(v, "share kernel 1 elementwise forward", 100 * 2.0 / 18);
    assert_figure(v, "us kernel 2 forward", 250);
}

/* Of 1, 1, 2, 2, 3, 3, 5, 5, 7 and 7 ms. */
static void calls_under_one_name(void **state)
{
    const ProfileView *v = &seen()->view;
    (void)state;
    assert_figure(v, "us kernel 1", 3600);
    assert_figure(v, "us_min kernel 1", 1000);
    assert_figure(v, "us_max kernel 1", 7000);
    assert_figure(v, "us_med kernel 1", 2000);
    assert_figure(v, "us_std kernel 1", 2270.584848790187);
}

static void one_attention(void **state)
{
    const ProfileView *v = &seen()->view;
    (void)state;
    assert_figure(v, "us one scores", 2000);
    assert_figure(v, "us one attention", 3000);
    assert_figure(v, "us inside", 1000);
    assert_figure(v, "calls inside", 5);
    assert_figure(v, "calls inside softmax", 5);
}

static void timeline(void **state)
{
    ProfileView *v = &seen()->view;
    (void)state;
    assert_true(isnan(profile_figure(v, "share compute"))); /* a CPU has no such queue */
    v->gpu = true;
    v->device = (ViewGpu){
        .compute = 12e6, .copies = 4e6, .gaps = {.time = {.n = 2, .med = 3e3, .max = 5e3}}};
    assert_figure(v, "share compute", 75);
    assert_figure(v, "share copies", 25);
    assert_figure(v, "share uploads", 25);
    assert_figure(v, "us_med gap", 3);
    assert_figure(v, "us_max gap", 5);
    assert_true(isnan(profile_figure(v, "us_med api_gap"))); /* no calls */
    v->host_gaps.time = (ViewStats){.n = 4, .total = 40e3, .med = 9e3, .min = 1e3, .max = 300e3};
    assert_figure(v, "us_med api_gap", 9);
    assert_figure(v, "us_max api_gap", 300);
    assert_figure(v, "all_calls api_gap", 4);
    assert_figure(v, "ms api_gap", 0.02);
    v->gpu = false; /* a CPU has gaps between its ops */
    assert_figure(v, "us_max api_gap", 300);
    assert_true(isnan(profile_figure(v, "us_max gap")));
}

static void what_is_not_there(void **state)
{
    const ProfileView *v = &seen()->view;
    (void)state;
    static const char *const none[] = {"ms optimizer",
                                       "ms device sideways",
                                       "ms sideways",
                                       "ms part RoPE q",
                                       "share category embedding",
                                       "",
                                       "mss forward",
                                       "m forward",
                                       "ms p softmax",
                                       "ms kernel 9",
                                       "ms kernel",
                                       "ms category",
                                       "ms steps",
                                       "us one door",
                                       "ms attention forward"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (!isnan(profile_figure(v, none[i]))) fail_msg("'%s' is a figure", none[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),         cmocka_unit_test(shares),
        cmocka_unit_test(launches),      cmocka_unit_test(kernels_by_rank),
        cmocka_unit_test(one_attention), cmocka_unit_test(calls_under_one_name),
        cmocka_unit_test(timeline),      cmocka_unit_test(what_is_not_there),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
