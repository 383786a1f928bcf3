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
#include <sys/mman.h>

enum { STREAM_ARRAY = 32 << 20, REPEATS = 15 }; /* doubles */

/* As STREAM has them: arrays of which the compiler knows that they do not overlap. */
static double a[STREAM_ARRAY], c[STREAM_ARRAY];

static double stream_copy(void)
{
    double best = 0;
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
    return best;
}

static int threads;

typedef struct Shape {
    int m, n, k;
} Shape;

static void library(Shape s, const float *x, const float *y, float *z)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s.m, s.n, s.k, 1, x, s.k, y, s.n, 0, z,
                s.n);
}

static void own(Shape s, const float *x, const float *y, float *z)
{
    static void *workspace;
    static size_t room;
    const PackedProduct p = {.kernel = microkernel_find(DT_F32),
                             .m = s.m,
                             .n = s.n,
                             .k = s.k,
                             .a = {x, DT_F32, s.k, 1},
                             .b = {y, DT_F32, 1, s.n},
                             .c = z,
                             .c_dtype = DT_F32,
                             .ldc = s.n};
    const size_t needed = (packed_workspace(&p, threads) + 63) / 64 * 64;
    if (needed > room) {
        free(workspace);
        workspace = aligned_alloc(64, room = needed);
    }
    if (!workspace) exit(2);
    packed_multiply(&p, workspace, threads);
}

typedef void Multiply(Shape s, const float *x, const float *y, float *z);

/* In large pages, as the engine's are. */
static float *matrix(int rows, int columns)
{
    enum { PAGE = 2 << 20 };
    const size_t elements = (size_t)rows * (size_t)columns;
    const size_t bytes = (elements * sizeof(float) + PAGE - 1) / PAGE * PAGE;
    float *numbers = aligned_alloc(PAGE, bytes);
    if (!numbers) exit(2);
    madvise(numbers, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < elements; i++) numbers[i] = (float)(i % 13) - 6;
    return numbers;
}

static double rate_at(Multiply *multiply, Shape s)
{
    float *x = matrix(s.m, s.k), *y = matrix(s.k, s.n), *z = matrix(s.m, s.n);
    double best = 0;
    for (int i = 0; i < REPEATS / 3; i++) {
        const double start = clock_seconds();
        multiply(s, x, y, z);
        const double rate = 2.0 * s.m * s.n * s.k / (clock_seconds() - start);
        best = rate > best ? rate : best;
    }
    free(x);
    free(y);
    free(z);
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
    static const Shape shapes[] = {{768, 768, 768},
                                   {1152, 1152, 1152},
                                   {1536, 1536, 1536},
                                   {2304, 2304, 2304},
                                   {512, 8192, 2048}};
    library_threads();
    double best = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        best = fmax(best, rate_at(multiply, shapes[i]));
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
