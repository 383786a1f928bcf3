#include "bench/profile_figure.h"
#include "with_cmocka.h"

#include <math.h>

/* Two steps: forward a product of 6 ms (of QKV) and a softmax of 2 ms, backward a product of 12 ms. */
static ProfileView view(ViewOp ops[3])
{
    ops[0] = (ViewOp){.phase = PHASE_FORWARD,
                      .category = "matmul",
                      .part = "QKV projections",
                      .nodes = 3,
                      .time = {.total = 12e6}};
    ops[1] = (ViewOp){.phase = PHASE_FORWARD,
                      .category = "softmax",
                      .part = "softmax",
                      .nodes = 1,
                      .time = {.total = 4e6}};
    ops[2] = (ViewOp){
        .phase = PHASE_BACKWARD, .category = "matmul", .nodes = 2, .time = {.total = 24e6}};
    ProfileView v = {.steps = 2, .ops = ops, .n_ops = 3};
    v.phases[PHASE_FORWARD] =
        (ViewPhase){.there = true, .wall = {.avg = 9e6, .std = 1e6}, .kernels = 14};
    return v;
}

static void assert_figure(const ProfileView *v, const char *what, double expected)
{
    const double x = profile_figure(v, what);
    if (!(fabs(x - expected) <= 1e-9 * expected)) fail_msg("%s: %g, not %g", what, x, expected);
}

static void times(void **state)
{
    ViewOp ops[3];
    const ProfileView v = view(ops);
    (void)state;
    assert_figure(&v, "wall forward", 9);
    assert_figure(&v, "std forward", 1);
    assert_figure(&v, "part softmax", 2);
    assert_figure(&v, "part QKV projections", 6);
    assert_figure(&v, "attention", 8);
    assert_figure(&v, "device", 20);
}

static void shares(void **state)
{
    ViewOp ops[3];
    const ProfileView v = view(ops);
    (void)state;
    assert_figure(&v, "category matmul forward", 75);
    assert_figure(&v, "share matmul forward", 30);
    assert_figure(&v, "share matmul", 90);
}

static void launches(void **state)
{
    ViewOp ops[3];
    ProfileView v = view(ops);
    (void)state;
    assert_figure(&v, "launches forward", 4); /* a CPU's are its ops */
    v.gpu = true;
    assert_figure(&v, "launches forward", 7);
}

static void what_is_not_there(void **state)
{
    ViewOp ops[3];
    const ProfileView v = view(ops);
    (void)state;
    static const char *const none[] = {
        "wall optimizer", "wall sideways", "part RoPE q", "share loss", "",
        "walls forward",  "w forward",     "p softmax"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_true(isnan(profile_figure(&v, none[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(shares),
        cmocka_unit_test(launches),
        cmocka_unit_test(what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
