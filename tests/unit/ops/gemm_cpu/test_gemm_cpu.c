/* Every micro-kernel that runs here through the GEMM, against float64. */
#include "unit/ops/gemm_cpu/gemm_trial.h"

#include <sys/wait.h>
#include <unistd.h>

/* Every pair of remainders of rows, columns and k: packing meets the lines of one side and k, a
 * tile rows and columns. All three at a time took minutes. */
static void test_remainders(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        const int64_t rows = kernel->mr + 1, columns = kernel->nr + 1, ks = 2 * kernel->kr + 1;
        Trial t = trial(kernel);
        for (t.m = 1; t.m <= rows; t.m++) {
            for (t.n = 1; t.n <= columns; t.n++) {
                t.k = 1 + (t.m * 7 + t.n * 5) % ks;
                try_forms(t);
            }
        }
        for (t.k = 1; t.k <= ks; t.k++) {
            for (t.m = 1; t.m <= rows; t.m++) {
                t.n = 1 + (t.m * 7 + t.k * 5) % columns;
                try_forms(t);
            }
            for (t.n = 1; t.n <= columns; t.n++) {
                t.m = 1 + (t.n * 7 + t.k * 5) % rows;
                try_forms(t);
            }
        }
    }
}

/* Beyond a block of the result, a packing task, a KC, a partial sum; threads that get none. */
static void test_blocks(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {
        {97, 193, 5},  {193, 97, 131}, {200, 13, 1543}, {3, 230, 385}, {13, 200, 1100}, {401, 1, 3},
        {200, 780, 5}, {780, 200, 5},  {99, 2, 4207},   {2, 99, 4097}, {5, 3, 12289}};
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            t.m = sizes[s][0];
            t.n = sizes[s][1];
            t.k = sizes[s][2];
            t.threads = 1 + (int)s % 5;
            t.scale = s % 2 ? 0.37F : 1;
            try_forms(t);
        }
    }
}

/* c += op(a) op(b), c = op(a) op(b) + bias, both: whole and ragged tiles, several KC, a partial
 * sum, every dtype of c. */
static void test_sums_and_biases(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1}, {97, 193, 5}, {96, 192, 131}, {13, 101, 4207}};
    static const DType dtypes[] = {DT_F32, DT_BF16, DT_F16};
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        for (int s = 0; s < 12; s++) {
            t.accumulate = s % 4 != 3;
            t.bias = s % 4 != 0;
            t.m = sizes[s / 3][0];
            t.n = sizes[s / 3][1];
            t.k = sizes[s / 3][2];
            t.c = dtypes[s % 3];
            t.threads = 1 + s % 4;
            t.scale = s % 2 ? 0.37F : 1;
            try_forms(t);
        }
    }
}

static double a_tenth(uint64_t i)
{
    (void)i;
    return 0.1;
}

/* Added one after the other, that many of the same number are off by percents. */
static void test_long_sums(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        t.m = t.n = 2;
        t.k = 300007;
        Matrix a = matrix(2, t.k, t.a), b = matrix(t.k, 2, t.b), c = matrix(2, 2, t.c);
        fill(&a, a_tenth, 0);
        fill(&b, a_tenth, 0);
        multiply(&t, &a, &b, &c);
        const double sum = (double)t.k * get(&a, 0, 0) * get(&b, 0, 0);
        if (fabs(get(&c, 1, 1) / sum - 1) > 1e-4)
            fail_msg("%s: %g instead of %g", kernel->name, get(&c, 1, 1), sum);
        free(a.data);
        free(b.data);
        free(c.data);
    }
}

static void test_dtypes(void **state)
{
    (void)state;
    static const DType dtypes[] = {DT_F32, DT_BF16, DT_F16};
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        for (int j = 0; j < 27; j++) {
            Trial t = trial(kernel);
            t.m = t.n = 29;
            t.k = 10;
            t.c = dtypes[j % 3];
            if (kernel->operand == DT_F32) {
                t.a = dtypes[j / 3 % 3];
                t.b = dtypes[j / 9];
            }
            try_forms(t);
        }
    }
}

static double mostly_noise(uint64_t i)
{
    static const double odd[] = {INFINITY, -INFINITY, NAN, 0};
    return i % 41 == 7 ? odd[i / 41 % 4] : noise(i);
}

/* They spread to their own rows and columns, and not from what fills up a micro-panel. */
static void test_infinities(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        t.value = mostly_noise;
        t.m = kernel->mr + 3;
        t.n = kernel->nr + 5;
        for (t.k = 1; t.k <= 2 * kernel->kr + 1; t.k++) try_forms(t);
    }
}

/* One infinity in all of b: the fallback computes the GEMM, bit for bit, whatever panels are private. */
static void try_fallback(bool accumulate)
{
    static const int threads[] = {1, 3, 16};
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        if (!kernel->fallback) continue;
        Trial t = trial(kernel);
        t.m = 192;
        t.n = 1446;
        t.k = 217;
        t.c = DT_F16;
        t.accumulate = accumulate;
        Matrix a = matrix(t.m, t.k, t.a), b = matrix(t.k, t.n, t.b);
        Matrix wanted = matrix(t.m, t.n, t.c), got = matrix(t.m, t.n, t.c);
        fill(&a, noise, 0);
        fill(&b, noise, 1);
        fill(&wanted, always_untouched, 0);
        element_set(b.data, t.b, (t.k - 1) * b.ld + t.n - 1, INFINITY);
        t.kernel = kernel->fallback;
        multiply(&t, &a, &b, &wanted);
        assert_true(isinf(get(&wanted, 0, t.n - 1)));
        t.kernel = kernel;
        for (int j = 0; j < 3; j++) {
            t.threads = threads[j];
            fill(&got, always_untouched, 0);
            multiply(&t, &a, &b, &got);
            hold_same(&t, &wanted, &got);
        }
        free(a.data);
        free(b.data);
        free(wanted.data);
        free(got.data);
    }
}

static void test_fallback(void **state)
{
    (void)state;
    try_fallback(false);
    try_fallback(true);
}

/* 2^-130 (a denormal number in bf16 and fp32) times 2^100, or 2^-22 (one in fp16) times 2^10.
 * Kernels of fp32 and fp16 count it; BFMMLA takes it for zero, unless the processor has FEAT_EBF16. */
static void test_denormals(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        t.m = t.n = t.k = 1;
        Matrix a = matrix(1, 1, t.a), b = matrix(1, 1, t.b), c = matrix(1, 1, t.c);
        const bool half = kernel->operand == DT_F16;
        const double small = half ? 0x1p-22 : 0x1p-130, large = half ? 0x1p10 : 0x1p100;
        element_set(a.data, t.a, 0, small);
        element_set(b.data, t.b, 0, large);
        multiply(&t, &a, &b, &c);
        const double got = get(&c, 0, 0);
        if (got != small * large && !(kernel->operand == DT_BF16 && got == 0)) {
            fail_msg("%s: %g * %g = %g", kernel->name, small, large, got);
        }
        free(a.data);
        free(b.data);
        free(c.data);
    }
}

/* Cells are processes: what a kernel set up for its thread must not be missed in a child. */
static void test_after_fork(void **state)
{
    (void)state;
    const Microkernel *kernel;
    for (int i = 0; (kernel = next_kernel(&i));) {
        Trial t = trial(kernel);
        t.m = t.n = t.k = 40;
        try_one(&t);
        const pid_t child = fork();
        if (child == 0) {
            try_one(&t);
            _exit(0);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0) fail_msg("%s in a child: status %d", kernel->name, status);
    }
}

static void test_plain_is_last(void **state)
{
    (void)state;
    assert_non_null(microkernel_find(DT_F32));
    assert_null(microkernel_find(DT_F64));
    int i = 0;
    while (microkernel_list[i + 1]) i++;
    assert_ptr_equal(microkernel_list[i], &microkernel_plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remainders),    cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_long_sums),     cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_infinities),    cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_denormals),     cmocka_unit_test(test_after_fork),
        cmocka_unit_test(test_plain_is_last), cmocka_unit_test(test_sums_and_biases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
