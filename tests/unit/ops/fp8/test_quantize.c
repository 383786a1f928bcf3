/* quantize of numbers that random ones never are, on one backend (test_quantize [cpu|cuda]), to the
 * reference's bits. */
#include "op_harness.h"
#include "ops/fp8/quantize.h"

static BackendId backend = BACKEND_cpu;

typedef enum Numbers { ZEROS, ONE, SUBNORMAL, WIDE, INFINITE, NOT_A_NUMBER, NUMBERS } Numbers;

enum { ROWS = 144, COLS = 272, HIGH = 2, WIDTH = 3 /* blocks of 128 */ };

/* Of one row or column in eight where it is about single ones. */
static double number(Numbers numbers, int64_t i)
{
    const double u = 2 * harness_uniform(1, i) - 1;
    const int64_t row = i / COLS, col = i % COLS;
    const bool here = row % 8 == 3 && col == row;
    switch (numbers) {
    case ZEROS:
        return i % 2 ? 0 : -0.0;
    case ONE:
        return i == 5 * COLS + 200 ? -3.5 : 0;
    case SUBNORMAL:
        return u * 0x1p-128;
    case WIDE:
        return ldexp(u, (int)(i % 200) - 100);
    case INFINITE:
        return here ? -INFINITY : u;
    default:
        return here ? NAN : u;
    }
}

/* Scales along rows and columns of x, and along those of what is transposed. */
static const int64_t scales[][4] = {{1, 1, 1, 1},
                                    {ROWS, 1, COLS, 1},
                                    {ROWS, WIDTH, COLS, HIGH},
                                    {HIGH, WIDTH, WIDTH, HIGH},
                                    {1, 1, COLS, HIGH}};
enum { N_SCALES = sizeof scales / sizeof *scales };

typedef struct Case {
    Numbers numbers;
    const int64_t *scales;
    DType from, to;
    bool recent;
} Case;

static void plan_case(Plan *plan, const Case *c, int out[5])
{
    Builder b;
    *plan = (Plan){0};
    builder_init(&b, plan);
    const int x = builder_tensor(&b, "x", TK_ACTIVATION, c->from, DIMS(ROWS, COLS));
    const int recent =
        c->recent ? builder_tensor(&b, "+recent", TK_ACTIVATION, DT_F32, DIMS(1)) : PLAN_NONE;
    out[0] = builder_tensor(&b, "q", TK_ACTIVATION, c->to, DIMS(ROWS, COLS));
    out[1] = builder_tensor(&b, "scale", TK_ACTIVATION, DT_F32, DIMS(c->scales[0], c->scales[1]));
    out[2] = builder_tensor(&b, "q^T", TK_ACTIVATION, c->to, DIMS(COLS, ROWS));
    out[3] = builder_tensor(&b, "scale^T", TK_ACTIVATION, DT_F32, DIMS(c->scales[2], c->scales[3]));
    out[4] = builder_tensor(&b, "+amax", TK_ACTIVATION, DT_F32, DIMS(1));
    builder_node(&b, OP_quantize, out, 5, IDS(x, recent, out[4]));
    assert_int_equal(b.status, ST_OK);
    harness_keep_all(plan);
    builder_free(&b);
}

static void run_on(HarnessRun *run, const Plan *plan, const Case *c, BackendId where,
                   const char *impl)
{
    harness_open_on(run, plan, where, impl, 2);
    for (int64_t i = 0; i < ROWS * COLS; i++)
        element_set(harness_host(run, 0), c->from, i, number(c->numbers, i));
    harness_move(run, true);
    harness_run_nodes(run);
}

/* NaN of any bits is NaN. */
static void compare(const HarnessRun *got, const HarnessRun *want, const Case *c, const int out[5])
{
    for (int o = 0; o < 5; o++) {
        const Tensor *t = &want->session.plan->tensors[out[o]];
        for (int64_t i = 0; i < plan_elements(t); i++) {
            const double x = harness_get(got, out[o], i), y = harness_get(want, out[o], i);
            const bool same = x == y && signbit(x) == signbit(y);
            if (!same && !(isnan(x) && isnan(y)))
                fail_msg("numbers %d, scales %lld x %lld, %s to %s: %s has %g at %lld, not %g",
                         c->numbers, (long long)c->scales[0], (long long)c->scales[1],
                         plan_dtype_name(c->from), plan_dtype_name(c->to), t->name, x, (long long)i,
                         y);
        }
    }
}

static void check(const Case *c)
{
    Plan plan;
    HarnessRun got, want;
    int out[5];
    plan_case(&plan, c, out);
    run_on(&want, &plan, c, BACKEND_cpu, "reference");
    run_on(&got, &plan, c, backend, NULL);
    compare(&got, &want, c, out);
    harness_close(&got);
    harness_close(&want);
    plan_free(&plan);
}

static void test_rare_numbers(void **state)
{
    (void)state;
    for (int i = 0; i < NUMBERS * N_SCALES * 4; i++) {
        const Case c = {.numbers = (Numbers)(i % NUMBERS),
                        .scales = scales[i / NUMBERS % N_SCALES],
                        .from = i / NUMBERS / N_SCALES % 2 ? DT_BF16 : DT_F32,
                        .to = i / NUMBERS / N_SCALES / 2 ? DT_E5M2 : DT_E4M3,
                        .recent = i % 7 == 0};
        check(&c);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) backend = harness_backend(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rare_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
