/* `limits` beside the BLAS library and our own product called directly and a plain STREAM copy, in one run.
 *
 * Both sides are the best of their repetitions, and the plain loops run before and after. Ends with
 * 1 when one of the three differs by more than 5 %. */
#include "base/clock.h"
#include "bench/limits.h"
#include "ops/packed_cpu.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { STREAM_ARRAY = 32 << 20, REPEATS = 15 }; /* doubles */

static double stream_copy(void)
{
    double *a = malloc(STREAM_ARRAY * sizeof *a), *c = malloc(STREAM_ARRAY * sizeof *c), best = 0;
    if (!a || !c) exit(2);
#pragma omp parallel for
    for (long j = 0; j < STREAM_ARRAY; j++) {
        a[j] = 1.0;
        c[j] = 0.0;
    }
    for (int i = 0; i < REPEATS; i++) {
        const double start = clock_seconds();
#pragma omp parallel for
        for (long j = 0; j < STREAM_ARRAY; j++) c[j] = a[j];
        const double rate = 2.0 * sizeof *a * STREAM_ARRAY / (clock_seconds() - start);
        best = rate > best ? rate : best;
    }
    if (c[STREAM_ARRAY - 1] != 1.0) exit(2);
    free(a);
    free(c);
    return best;
}

static int threads;

static void library(int n, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

static void own(int n, const float *a, const float *b, float *c)
{
    static void *workspace;
    static size_t room;
    const PackedProduct p = {.kernel = microkernel_find(DT_F32),
                             .m = n,
                             .n = n,
                             .k = n,
                             .a = {a, DT_F32, n, 1},
                             .b = {b, DT_F32, 1, n},
                             .c = c,
                             .c_dtype = DT_F32,
                             .ldc = n};
    const size_t needed = (packed_workspace(&p, threads) + 63) / 64 * 64;
    if (needed > room) {
        free(workspace);
        workspace = aligned_alloc(64, room = needed);
    }
    if (!workspace) exit(2);
    packed_multiply(&p, workspace, threads);
}

typedef void Multiply(int n, const float *a, const float *b, float *c);

static double rate_at(Multiply *multiply, int n)
{
    const size_t elements = (size_t)n * (size_t)n;
    float *a = malloc(elements * sizeof *a), *b = malloc(elements * sizeof *b);
    float *c = calloc(elements, sizeof *c);
    double best = 0;
    if (!a || !b || !c) exit(2);
    for (size_t i = 0; i < elements; i++) a[i] = b[i] = (float)(i % 13) - 6;
    for (int i = 0; i < REPEATS / 3; i++) {
        const double start = clock_seconds();
        multiply(n, a, b, c);
        const double rate = 2.0 * n * n * n / (clock_seconds() - start);
        best = rate > best ? rate : best;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

/* All threads to the library itself, whatever the engine does with it. */
static void library_threads(void)
{
    static const char *const setters[] = {"bli_thread_set_num_threads", "openblas_set_num_threads"};
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++) {
        void (*set)(long) = NULL;
        *(void **)&set = dlsym(RTLD_DEFAULT, setters[i]);
        if (set) set(threads);
    }
}

static double best_of(Multiply *multiply)
{
    library_threads();
    double best = 0;
    for (int n = 500; n <= 2000; n += 500) best = fmax(best, rate_at(multiply, n));
    return best;
}

static bool differs(const char *what, double ours, double theirs, const char *unit)
{
    const double off = 100 * (ours / theirs - 1);
    printf("%-28s limits %8.2f G%s   plain %8.2f G%s   %+.1f %%\n", what, ours / 1e9, unit,
           theirs / 1e9, unit, off);
    return fabs(off) > 5;
}

int main(void)
{
    Limits limits;
    LimitsKey key;
    if (limits_key(0, &key) != ST_OK) return 2;
    threads = key.threads;
    omp_set_num_threads(threads);
    double copy = stream_copy(), blas = best_of(library), ours = best_of(own);
    if (limits_measure(key.threads, &limits) != ST_OK) {
        fprintf(stderr, "limits_check: %s\n", status_message());
        return 2;
    }
    copy = fmax(copy, stream_copy());
    blas = fmax(blas, best_of(library));
    ours = fmax(ours, best_of(own));
    printf("%s, %d threads, %s; measured in %.1f s; stolen %.1f %%, others %.1f %%\n", key.cpu,
           key.threads, key.blas, limits.seconds, 100 * limits.steal, 100 * limits.others);
    const double peak = limits_peak_flops(&limits, PRECISION_FP32);
    const double library_peak = limits.rate[LIMIT_FP32_LIBRARY][LIMITS_ALL].max;
    const bool copies =
        differs("copy (STREAM)", limits.rate[LIMIT_COPY][LIMITS_ALL].max, copy, "B/s");
    const bool library_differs =
        differs("fp32 product (cblas_sgemm)", library_peak, blas, "FLOP/s");
    const bool own_differs = differs("fp32 product (own)", peak, ours, "FLOP/s");
    return copies || library_differs || own_differs;
}
