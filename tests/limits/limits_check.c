/* `limits` beside the BLAS library called directly and a plain STREAM copy, in one run.
 *
 * Both sides are the best of their repetitions, and the plain loops run before and after. Ends with
 * 1 when a pair differs by more than 5 %. */
#include "base/clock.h"
#include "bench/limits.h"

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

static double blas_at(int n)
{
    const size_t elements = (size_t)n * (size_t)n;
    float *a = malloc(elements * sizeof *a), *b = malloc(elements * sizeof *b);
    float *c = calloc(elements, sizeof *c);
    double best = 0;
    if (!a || !b || !c) exit(2);
    for (size_t i = 0; i < elements; i++) a[i] = b[i] = (float)(i % 13) - 6;
    for (int i = 0; i < REPEATS / 3; i++) {
        const double start = clock_seconds();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
        const double rate = 2.0 * n * n * n / (clock_seconds() - start);
        best = rate > best ? rate : best;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

/* All threads to the library itself, whatever the engine does with it. */
static void library_threads(int threads)
{
    static const char *const setters[] = {"bli_thread_set_num_threads", "openblas_set_num_threads"};
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++) {
        void (*set)(long) = NULL;
        *(void **)&set = dlsym(RTLD_DEFAULT, setters[i]);
        if (set) set(threads);
    }
}

static double blas_best(int threads)
{
    library_threads(threads);
    double best = 0;
    for (int n = 500; n <= 2000; n += 500) best = fmax(best, blas_at(n));
    return best;
}

static int compare(const char *what, double ours, double theirs, const char *unit)
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
    omp_set_num_threads(key.threads);
    double copy = stream_copy();
    double product = blas_best(key.threads);
    if (limits_measure(key.threads, &limits) != ST_OK) {
        fprintf(stderr, "limits_check: %s\n", status_message());
        return 2;
    }
    copy = fmax(copy, stream_copy());
    product = fmax(product, blas_best(key.threads));
    printf("%s, %d threads, %s; measured in %.1f s; stolen %.1f %%, others %.1f %%\n", key.cpu,
           key.threads, key.blas, limits.seconds, 100 * limits.steal, 100 * limits.others);
    const int copies =
        compare("copy (STREAM)", limits.rate[LIMIT_COPY][LIMITS_ALL].max, copy, "B/s");
    const double peak = limits_peak_flops(&limits, PRECISION_FP32);
    return compare("fp32 product (cblas_sgemm)", peak, product, "FLOP/s") || copies;
}
