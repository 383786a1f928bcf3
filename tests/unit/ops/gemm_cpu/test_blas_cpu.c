/* The system's BLAS: how many threads it gets of those that compute, and that the product is the
 * same whoever shares it out. */
#include "backend/cpu_threads.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "with_cmocka.h"

#include <math.h>

enum { M = 130, N = 201, K = 67 };

static float a[M * K], b[K * N], c[M * N];

static void fill(void)
{
    for (int i = 0; i < M * K; i++) a[i] = (float)(i % 17 - 8);
    for (int i = 0; i < K * N; i++) b[i] = (float)(i % 23 - 11);
}

/* Small whole numbers: exact in any order. */
static bool is_product(void)
{
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            if (fabsf(sum - c[i * N + j]) > 0) return false;
        }
    }
    return true;
}

/* Of the two libraries, the one that this build is linked with. */
extern int64_t bli_thread_get_num_threads(void) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

/* How many threads the library itself uses now. */
static int library_threads(void)
{
    if (bli_thread_get_num_threads) return (int)bli_thread_get_num_threads();
    assert_non_null(openblas_get_num_threads);
    return openblas_get_num_threads();
}

static bool multiplies(void)
{
    for (int i = 0; i < M * N; i++) c[i] = NAN;
    blas_cpu_gemm(&(GemmOperands){.c = {c, DT_F32, M, N, N},
                                  .a = {a, DT_F32, M, K, K},
                                  .b = {b, DT_F32, K, N, N},
                                  .scale = 1});
    return is_product();
}

/* It waits awake: of more threads than processors, one that has none would keep all others waiting. */
static void never_gets_more_than_processors(void **state)
{
    (void)state;
    const int processors = cpu_threads_processors();
    assert_true(processors >= 1);
    for (int threads = 1; threads <= processors + 7; threads++) {
        blas_cpu_set_threads(threads);
        assert_true(library_threads() <= processors);
        assert_true(multiplies());
        blas_cpu_share_by_library(threads);
        assert_true(library_threads() <= processors);
        assert_true(multiplies());
    }
    blas_cpu_set_threads(1);
    assert_int_equal(library_threads(), 1);
}

/* A limit of the library itself is that of all threads. */
static void shares_among_all_processors(void **state)
{
    (void)state;
    blas_cpu_share_by_library(cpu_threads_processors());
    assert_int_equal(library_threads(), cpu_threads_processors());
    blas_cpu_set_threads(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_gets_more_than_processors),
        cmocka_unit_test(shares_among_all_processors),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
