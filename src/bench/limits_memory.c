#include "bench/limits_memory.h"

#include "backend/cpu_info.h"
#include "base/clock.h"
#include "bench/limits_rate.h"

#include <sys/mman.h>

/* Arrays that start at the same distance from a large power of two fight for the same cache sets
 * and memory banks; this keeps their starts apart. */
enum { STAGGER = 4352, ARRAYS = 3 };

typedef struct Arrays {
    double *a, *b, *c;
    int64_t n;
    int threads;
    void *block;
    size_t block_bytes;
} Arrays;

static volatile uint64_t read_sink;

static void read_all(const Arrays *x)
{
    const uint64_t *a = (const uint64_t *)(const void *)x->a;
    uint64_t sum = 0; /* of integers: their order is free, so the compiler may vectorise it */
#pragma omp parallel for simd schedule(static) num_threads(x->threads) reduction(+ : sum)
    for (int64_t i = 0; i < x->n; i++) sum += a[i];
    read_sink = sum;
}

static void write_all(const Arrays *x)
{
    double *a = x->a;
#pragma omp parallel for simd schedule(static) num_threads(x->threads)
    for (int64_t i = 0; i < x->n; i++) a[i] = 1.5;
}

static void copy_all(const Arrays *x)
{
    const double *restrict a = x->a;
    double *restrict c = x->c;
#pragma omp parallel for simd schedule(static) num_threads(x->threads)
    for (int64_t i = 0; i < x->n; i++) c[i] = a[i];
}

static void triad_all(const Arrays *x)
{
    const double *restrict b = x->b, *restrict c = x->c;
    double *restrict a = x->a;
#pragma omp parallel for simd schedule(static) num_threads(x->threads)
    for (int64_t i = 0; i < x->n; i++) a[i] = b[i] + 3.0 * c[i];
}

/* Pages belong to the memory next to the core that touches them first: each thread touches what it
 * will work on. */
static void touch_all(const Arrays *x)
{
#pragma omp parallel for schedule(static) num_threads(x->threads)
    for (int64_t i = 0; i < x->n; i++) {
        x->a[i] = 1;
        x->b[i] = 2;
        x->c[i] = 0.5;
    }
}

static Status take_arrays(Arrays *x, size_t bytes, int threads)
{
    const size_t step = (bytes + 63) / 64 * 64 + STAGGER;
    x->block_bytes = ARRAYS * step;
    x->block =
        mmap(NULL, x->block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x->block == MAP_FAILED) {
        return FAIL(ST_NO_MEMORY,
                    "no memory for three arrays of %zu bytes to measure bandwidth with", bytes);
    }
    char *at = x->block;
    x->a = (double *)(void *)at;
    x->b = (double *)(void *)(at + step);
    x->c = (double *)(void *)(at + 2 * step);
    x->n = (int64_t)(bytes / sizeof(double));
    x->threads = threads;
    touch_all(x);
    return ST_OK;
}

static LimitsRate rate_of(const Arrays *x, void (*kernel)(const Arrays *), int streams, int repeats)
{
    double rates[LIMITS_RATE_MAX];
    const double bytes = (double)streams * (double)x->n * sizeof(double);
    kernel(x);
    for (int i = 0; i < repeats; i++) {
        const double start = clock_seconds();
        kernel(x);
        rates[i] = bytes / (clock_seconds() - start);
    }
    return limits_rate_of(rates, repeats);
}

Status limits_memory_measure(int threads, size_t bytes, int repeats, LimitsScope scope, Limits *out)
{
    Arrays x = {0};
    if (repeats > LIMITS_RATE_MAX) repeats = LIMITS_RATE_MAX;
    TRY(take_arrays(&x, bytes, threads));
    out->rate[LIMIT_READ][scope] = rate_of(&x, read_all, 1, repeats);
    out->rate[LIMIT_WRITE][scope] = rate_of(&x, write_all, 1, repeats);
    out->rate[LIMIT_COPY][scope] = rate_of(&x, copy_all, 2, repeats);
    out->rate[LIMIT_TRIAD][scope] = rate_of(&x, triad_all, 3, repeats);
    munmap(x.block, x.block_bytes);
    return ST_OK;
}

Status limits_memory_bytes(size_t *bytes)
{
    enum { LEAST = 256 << 20, MOST = 1 << 30 };
    CpuInfo cpu;
    TRY(cpu_info_read(&cpu, ""));
    int64_t wanted = 4 * cpu.l3 * cpu.l3_instances;
    wanted = wanted < LEAST ? LEAST : wanted > MOST ? MOST : wanted;
    const int64_t most = cpu_info_memory_left(&cpu) / 8;
    *bytes = (size_t)(wanted < most ? wanted : most) / 4096 * 4096;
    return *bytes > 0 ? ST_OK : FAIL(ST_NO_MEMORY, "no free memory to measure bandwidth with");
}
