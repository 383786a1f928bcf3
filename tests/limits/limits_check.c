/* `limits` beside the BLAS library and our own product called directly and a plain STREAM copy, in one run.
 *
 *     limits_check [TURNS]
 *
 * Both sides are the best of their repetitions. They take turns by the second, TURNS times (10): where neighbours
 * take their share of the processor for a minute, both have to have met a quiet moment. Ends with 1 when one of the
 * four differs by more than 5 %. */
#include "base/clock.h"
#include "bench/limits.h"
#include "bench/limits_memory.h"
#include "bench/limits_product.h"
#include "ops/packed_cpu.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { COPIES = 15, PRODUCTS = 5 /* of each shape */ };

static void fail(void)
{
    fprintf(stderr, "limits_check: %s\n", status_message());
    exit(2);
}

enum { STREAM_ARRAY_SIZE = 96 << 20 }; /* doubles */
static double from[STREAM_ARRAY_SIZE], to[STREAM_ARRAY_SIZE];

/* STREAM's own: arrays of the program, next to each other. */
static double stream_copy(void)
{
    double best = 0;
    for (int i = -1; i < COPIES; i++) { /* the first one touches the pages */
        const double start = clock_seconds();
#pragma omp parallel for
        for (long j = 0; j < STREAM_ARRAY_SIZE; j++) to[j] = from[j];
        const double rate = 2.0 * sizeof(double) * STREAM_ARRAY_SIZE / (clock_seconds() - start);
        best = i >= 0 && rate > best ? rate : best;
    }
    return best;
}

/* With arrays as far apart as those of `limits`: where they lie within a page changes the rate on some processors. */
static double spaced_copy(size_t bytes)
{
    enum { BETWEEN = 2 * 4352 };
    const size_t all = 3 * bytes + BETWEEN;
    char *block = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) exit(2);
    char *a = block, *c = block + 2 * bytes + BETWEEN;
    double best = 0;
    for (int i = -1; i < COPIES; i++) { /* the first one touches the pages */
        const double start = clock_seconds();
#pragma omp parallel
        {
            const size_t n = (size_t)omp_get_num_threads(), part = bytes / n / 64 * 64;
            const size_t at = part * (size_t)omp_get_thread_num();
            if (i < 0) memset(a + at, 1, part);
            memcpy(c + at, a + at, part);
        }
        const double rate = 2.0 * (double)bytes / (clock_seconds() - start);
        best = i >= 0 && rate > best ? rate : best;
    }
    if (c[bytes / 2] != 1) exit(2);
    munmap(block, all);
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

/* The best of all rounds. */
typedef struct Rates {
    double copy, spaced, library, own;
} Rates;

static void plain_turn(Rates *best, size_t bytes)
{
    best->copy = fmax(best->copy, stream_copy());
    best->spaced = fmax(best->spaced, spaced_copy(bytes));
    best->library = fmax(best->library, best_of(library));
    best->own = fmax(best->own, best_of(own));
}

/* The rows that `limits` has, by its own code. */
static void limits_turn(Rates *best, size_t bytes)
{
    enum { REPEATS = 15 };
    const Placement place = {.backend = BACKEND_cpu, .threads = threads};
    Limits memory;
    LimitsRate by_library, by_us;
    if (limits_memory_measure(threads, bytes, REPEATS, LIMITS_ALL, &memory) != ST_OK ||
        limits_product_library(&place, &limits_product_budget, &by_library) != ST_OK ||
        limits_product_large(&place, PRECISION_FP32, &limits_product_budget, &by_us) != ST_OK) {
        fail();
    }
    best->copy = fmax(best->copy, memory.rate[LIMIT_COPY][LIMITS_ALL].max);
    best->library = fmax(best->library, by_library.max);
    best->own = fmax(best->own, by_us.max);
}

int main(int argc, char **argv)
{
    const int turns = argc > 1 ? atoi(argv[1]) : 10;
    size_t bytes = 0;
    LimitsKey key;
    Rates plain = {0}, ours = {0};
    if (turns < 1 || limits_key(0, &key) != ST_OK) return 2;
    threads = key.threads;
    omp_set_num_threads(threads);
    if (limits_memory_bytes(&bytes) != ST_OK) fail();
    for (int i = 0; i < turns; i++) {
        plain_turn(&plain, bytes);
        limits_turn(&ours, bytes);
    }
    printf("%s, %d threads, %s; best of %d turns each\n", key.cpu, threads, key.blas, turns);
    const bool copies = differs("copy (STREAM)", ours.copy, plain.copy, "B/s");
    const bool spaced = differs("copy (spaced)", ours.copy, plain.spaced, "B/s");
    const bool libraries =
        differs("fp32 product (cblas_sgemm)", ours.library, plain.library, "FLOP/s");
    const bool products = differs("fp32 product (own)", ours.own, plain.own, "FLOP/s");
    return copies || spaced || libraries || products;
}
