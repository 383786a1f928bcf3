/* `limits` beside the BLAS library and our own GEMM called directly and a plain STREAM copy, in one run.
 *
 *     limits_check [TURNS]
 *
 * Both sides are the best of their repetitions. They take turns by the second, TURNS times (15):
 * other programs can take a core for a minute, which only lowers a rate, so both sides need a quiet
 * moment. Ends with 1 when one of the three differs by more than 5 %. */
#include "base/clock.h"
#include "bench/limits/limits.h"
#include "bench/limits/limits_cpu.h"
#include "bench/limits/limits_matmul.h"
#include "ops/gemm_cpu/gemm_cpu.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { COPIES = 15, PRODUCTS = 5 /* of each shape */ };

static void fail(void)
{
    fprintf(stderr, "limits_check: %s\n", status_message());
    exit(2);
}

/* STREAM as it is: its arrays, its first touch of all three in one loop, its copy; and OFFSET, its
 * remedy for arrays that fight for the same cache sets, in a few sizes (bytes from one to the other
 * modulo a page are worth 10 % on some processors). Each turn has fresh pages, as a new run of it
 * would. */
enum { STREAM_ARRAY_SIZE = 80 << 20, MOST_OFFSET = 448 }; /* doubles; three arrays below 2 GiB */
static struct {
    double a[STREAM_ARRAY_SIZE], b[STREAM_ARRAY_SIZE], c[STREAM_ARRAY_SIZE + MOST_OFFSET];
} stream __attribute__((aligned(4096)));

static double stream_copy(long offset)
{
    double best = 0;
    madvise(&stream, sizeof stream, MADV_DONTNEED);
#pragma omp parallel for
    for (long j = 0; j < STREAM_ARRAY_SIZE; j++) {
        stream.a[j] = 1;
        stream.b[j] = 2;
        stream.c[j + offset] = 0;
    }
    for (int i = 0; i < COPIES; i++) {
        stream.a[STREAM_ARRAY_SIZE / 2] = i;
        const double start = clock_seconds();
#pragma omp parallel for
        for (long j = 0; j < STREAM_ARRAY_SIZE; j++) stream.c[j + offset] = stream.a[j];
        const double rate = 2.0 * sizeof(double) * STREAM_ARRAY_SIZE / (clock_seconds() - start);
        if (stream.c[STREAM_ARRAY_SIZE / 2 + offset] != i) exit(2); /* or it would be left out */
        best = rate > best ? rate : best;
    }
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
    const GemmPlan p = {.kernel = microkernel_find(DT_F32),
                        .m = s.m,
                        .n = s.n,
                        .k = s.k,
                        .a = {x, DT_F32, s.k, 1},
                        .b = {y, DT_F32, 1, s.n},
                        .c = z,
                        .scale = 1,
                        .c_dtype = DT_F32,
                        .ldc = s.n};
    const size_t needed = (gemm_workspace(&p, threads) + 63) / 64 * 64;
    if (needed > room) {
        free(workspace);
        workspace = aligned_alloc(64, room = needed);
    }
    if (!workspace) exit(2);
    gemm_multiply(&p, workspace, threads);
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
    for (int i = 0; i < PRODUCTS; i++) {
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

/* ---- what is compared, each as `limits` does it, by its own code, and plainly ---- */

static double plain_copy(void)
{
    static const long offsets[] = {0, 64, MOST_OFFSET};
    double best = 0;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        best = fmax(best, stream_copy(offsets[i]));
    }
    return best;
}

static double limits_copy(void)
{
    size_t bytes = 0;
    Limits memory;
    if (limits_cpu_memory_bytes(&bytes) != ST_OK ||
        limits_cpu_memory(threads, bytes, COPIES, LIMITS_ALL, &memory) != ST_OK) {
        fail();
    }
    return memory.rate[LIMIT_COPY][LIMITS_ALL].max;
}

static double plain_library(void)
{
    return best_of(library);
}

static double limits_library(void)
{
    const Placement place = {.backend = BACKEND_cpu, .threads = threads};
    LimitsRate rate;
    if (limits_matmul_library(&place, &limits_matmul_budget, &rate) != ST_OK) fail();
    return rate.max;
}

static double plain_own(void)
{
    return best_of(own);
}

static double limits_own(void)
{
    const Placement place = {.backend = BACKEND_cpu, .threads = threads};
    LimitsRate rate;
    if (limits_matmul_large(&place, PRECISION_FP32, &limits_matmul_budget, &rate) != ST_OK) {
        fail();
    }
    return rate.max;
}

typedef double Measure(void);
static const struct {
    const char *name, *unit;
    Measure *limits, *plain;
} rows[] = {
    {"copy (STREAM)", "B/s", limits_copy, plain_copy},
    {"fp32 product (cblas_sgemm)", "FLOP/s", limits_library, plain_library},
    {"fp32 product (own)", "FLOP/s", limits_own, plain_own},
};
enum { ROWS = sizeof rows / sizeof *rows };

int main(int argc, char **argv)
{
    const int turns = argc > 1 ? atoi(argv[1]) : 15;
    LimitsKey key;
    double ours[ROWS] = {0}, plain[ROWS] = {0};
    if (turns < 1 || limits_key(0, &key) != ST_OK) return 2;
    threads = key.threads;
    omp_set_num_threads(threads);
    for (int i = 0; i < turns; i++) {
        for (int r = 0; r < ROWS; r++) {
            plain[r] = fmax(plain[r], rows[r].plain());
            ours[r] = fmax(ours[r], rows[r].limits());
        }
    }
    printf("%s, %d threads, %s; best of %d turns\n", key.cpu, threads, key.blas, turns);
    bool off = false;
    for (int r = 0; r < ROWS; r++) {
        off |= differs(rows[r].name, ours[r], plain[r], rows[r].unit);
    }
    return off;
}
