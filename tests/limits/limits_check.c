/* `limits` beside the BLAS library and our own product called directly and a plain STREAM copy, in one run.
 *
 *     limits_check [TURNS]
 *
 * Both sides are the best of their repetitions. They take turns by the second, TURNS times (10): where neighbours
 * take their share of the processor for a minute, both have to have met a quiet moment. Each turn is a process of
 * its own, so that both sides get the same memory: which of a machine's pages an array has can be worth 20 %. Ends
 * with 1 when one of the three differs by more than 5 %. */
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
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COPIES = 15, PRODUCTS = 5 /* of each shape */ };

static void fail(void)
{
    fprintf(stderr, "limits_check: %s\n", status_message());
    exit(2);
}

/* STREAM's own loop over arrays of the program. OFFSET is its remedy for arrays that fight for the same cache sets. */
enum { STREAM_ARRAY_SIZE = 96 << 20, OFFSET = 448 }; /* doubles */
static double from[STREAM_ARRAY_SIZE], to[STREAM_ARRAY_SIZE + OFFSET];

static double stream_copy(long offset)
{
    double best = 0;
#pragma omp parallel for
    for (long j = 0; j < STREAM_ARRAY_SIZE; j++) from[j] = 1; /* or all is one page of zeros */
    for (int i = -1; i < COPIES; i++) { /* the first one touches the pages of the other */
        from[STREAM_ARRAY_SIZE / 2] = i;
        const double start = clock_seconds();
#pragma omp parallel for
        for (long j = 0; j < STREAM_ARRAY_SIZE; j++) to[j + offset] = from[j];
        const double rate = 2.0 * sizeof(double) * STREAM_ARRAY_SIZE / (clock_seconds() - start);
        if (to[STREAM_ARRAY_SIZE / 2 + offset] != i) exit(2); /* or the compiler leaves it out */
        best = i >= 0 && rate > best ? rate : best;
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

typedef struct Rates {
    double copy, library, own;
} Rates;

static void plain_turn(Rates *rates)
{
    rates->copy = fmax(stream_copy(0), stream_copy(OFFSET));
    rates->library = best_of(library);
    rates->own = best_of(own);
}

/* The rows that `limits` has, by its own code. */
static void limits_turn(Rates *rates)
{
    enum { REPEATS = 15 };
    const Placement place = {.backend = BACKEND_cpu, .threads = threads};
    size_t bytes = 0;
    Limits memory;
    LimitsRate by_library, by_us;
    if (limits_memory_bytes(&bytes) != ST_OK ||
        limits_memory_measure(threads, bytes, REPEATS, LIMITS_ALL, &memory) != ST_OK ||
        limits_product_library(&place, &limits_product_budget, &by_library) != ST_OK ||
        limits_product_large(&place, PRECISION_FP32, &limits_product_budget, &by_us) != ST_OK) {
        fail();
    }
    *rates = (Rates){memory.rate[LIMIT_COPY][LIMITS_ALL].max, by_library.max, by_us.max};
}

/* Keeps the best of all turns. */
static void in_own_process(void (*turn)(Rates *), Rates *best)
{
    int ends[2];
    Rates rates;
    if (pipe(ends)) exit(2);
    const pid_t child = fork();
    if (child == 0) {
        omp_set_num_threads(threads);
        turn(&rates);
        _exit(write(ends[1], &rates, sizeof rates) == sizeof rates ? 0 : 2);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &rates, sizeof rates) != sizeof rates) exit(2);
    close(ends[0]);
    waitpid(child, NULL, 0);
    best->copy = fmax(best->copy, rates.copy);
    best->library = fmax(best->library, rates.library);
    best->own = fmax(best->own, rates.own);
}

int main(int argc, char **argv)
{
    const int turns = argc > 1 ? atoi(argv[1]) : 10;
    LimitsKey key;
    Rates plain = {0}, ours = {0};
    if (turns < 1 || limits_key(0, &key) != ST_OK) return 2;
    threads = key.threads;
    for (int i = 0; i < turns; i++) {
        in_own_process(plain_turn, &plain);
        in_own_process(limits_turn, &ours);
    }
    printf("%s, %d threads, %s; best of %d turns each\n", key.cpu, threads, key.blas, turns);
    const bool copies = differs("copy (STREAM)", ours.copy, plain.copy, "B/s");
    const bool libraries =
        differs("fp32 product (cblas_sgemm)", ours.library, plain.library, "FLOP/s");
    const bool products = differs("fp32 product (own)", ours.own, plain.own, "FLOP/s");
    return copies || libraries || products;
}
