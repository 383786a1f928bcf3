#include "bench/limits/limits_cpu.h"

#include "backend/thread_team.h"
#include "base/clock.h"
#include "bench/limits/caches_cpu.h"
#include "bench/limits/limits_matmul.h"
#include "bench/measure/interference.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* ---- memory ---- */

/* Arrays that start at the same distance from a large power of two fight for the same cache sets
 * and memory banks; this keeps their starts apart. */
enum { STAGGER = 4352, ARRAYS = 3 };

typedef struct Arrays {
    double *a, *b, *c;
    int64_t n; /* elements of each */
} Arrays;

/* Whole lanes, so that the loops below need no rest. */
enum { LANES = 32 };

/* Integers: their order is free, so the compiler may keep the lanes in registers, and enough of them to
 * hide how long an addition takes. */
static uint64_t sum_of(const uint64_t *a, int64_t n)
{
    uint64_t lane[LANES] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i += LANES) {
        for (int k = 0; k < LANES; k++) lane[k] += a[i + k];
    }
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

static void add_scaled(double *restrict a, const double *restrict b, const double *restrict c,
                       int64_t n)
{
    for (int64_t i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
}

CPU_CLONES static void add_to(double *restrict a, const double *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) a[i] += 3.0 * b[i];
}

/* Each is run by every thread on its part of the arrays, always the same one. */
typedef void Loop(const Arrays *x);

static void read_loop(const Arrays *x)
{
    static uint64_t sink; /* the compiler must not leave the sum out */
    const uint64_t sum = sum_of((const uint64_t *)(const void *)x->a, x->n);
    __atomic_store_n(&sink, sum, __ATOMIC_RELAXED);
}

static void write_loop(const Arrays *x)
{
    memset(x->a, 1, (size_t)x->n * sizeof *x->a);
}

static void copy_loop(const Arrays *x)
{
    memcpy(x->c, x->a, (size_t)x->n * sizeof *x->a);
}

/* As an optimizer's step: what is written was read, so no line is fetched only to be overwritten, which
 * the triad's traffic has and its bytes do not. */
static void update_loop(const Arrays *x)
{
    add_to(x->a, x->b, x->n);
}

static void triad_loop(const Arrays *x)
{
    add_scaled(x->a, x->b, x->c, x->n);
}

/* Pages belong to the memory next to the core that touches them first: each thread touches what it
 * will work on. */
static void touch_loop(const Arrays *x)
{
    for (int64_t i = 0; i < x->n; i++) {
        x->a[i] = 1;
        x->b[i] = 2;
        x->c[i] = 0.5;
    }
}

typedef struct Bench {
    Arrays arrays;
    Loop *loop;
    int threads;
} Bench;

static void run_part(const void *data, int64_t first, int64_t last, int thread)
{
    const Bench *bench = data;
    const Arrays *x = &bench->arrays;
    const int64_t at = first * LANES;
    (void)thread;
    bench->loop(&(Arrays){x->a + at, x->b + at, x->c + at, (last - first) * LANES});
}

static void run_all(Bench *bench, Loop *loop)
{
    bench->loop = loop;
    thread_team_for(bench->threads, bench->arrays.n / LANES, 0, run_part, bench);
}

static LimitsRate rate_of(Bench *bench, Loop *loop, int streams, int repeats)
{
    double rates[LIMITS_MAX_REPEATS];
    const double bytes = (double)streams * (double)bench->arrays.n * sizeof(double);
    run_all(bench, loop);
    for (int i = 0; i < repeats; i++) {
        const double start = clock_seconds();
        run_all(bench, loop);
        rates[i] = bytes / (clock_seconds() - start);
    }
    return limits_rate_of(rates, repeats);
}

Status limits_cpu_memory(int threads, size_t bytes, int repeats, LimitsScope scope, Limits *out)
{
    const size_t step = (bytes + 63) / 64 * 64 + STAGGER, all = ARRAYS * step;
    char *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NO_MEMORY("for three arrays of %zu bytes to measure bandwidth", bytes);
    (void)madvise(at, all, MADV_HUGEPAGE); /* as the engine's arrays are */
    Bench bench = {.arrays = {.a = (double *)(void *)at,
                              .b = (double *)(void *)(at + step),
                              .c = (double *)(void *)(at + 2 * step),
                              .n = (int64_t)(bytes / sizeof(double)) / LANES * LANES},
                   .threads = threads};
    if (repeats > LIMITS_MAX_REPEATS) repeats = LIMITS_MAX_REPEATS;
    run_all(&bench, touch_loop);
    out->rate[LIMIT_READ][scope] = rate_of(&bench, read_loop, 1, repeats);
    out->rate[LIMIT_WRITE][scope] = rate_of(&bench, write_loop, 1, repeats);
    out->rate[LIMIT_COPY][scope] = rate_of(&bench, copy_loop, 2, repeats);
    out->rate[LIMIT_UPDATE][scope] = rate_of(&bench, update_loop, 3, repeats);
    out->rate[LIMIT_TRIAD][scope] = rate_of(&bench, triad_loop, 3, repeats);
    munmap(at, all);
    return ST_OK;
}

Status limits_cpu_memory_bytes(size_t *bytes)
{
    enum { LEAST = 256 << 20, MOST = 1 << 30 };
    CpuInfo cpu;
    TRY(cpu_info_read(&cpu, ""));
    int64_t wanted = 4 * cpu.l3 * cpu.l3_instances;
    wanted = wanted < LEAST ? LEAST : wanted > MOST ? MOST : wanted;
    const int64_t most = cpu_info_memory_left(&cpu) / 8;
    *bytes = (size_t)(wanted < most ? wanted : most) / 4096 * 4096;
    return *bytes > 0 ? ST_OK : FAIL(ST_NO_MEMORY, "no free memory to measure bandwidth");
}

/* ---- all of them ---- */

static Status measure_matmul(int threads, LimitsScope scope, Limits *out)
{
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    const LimitsBudget *budget = &limits_matmul_budget;
    const Placement place = {.backend = BACKEND_cpu, .threads = threads};
    Config model;
    config_defaults(&model);
    TRY(model_spec_preset(&model.model, "small"));
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
        TRY(limits_matmul_rows(&place, &model, precisions[i], budget, scope, out));
    }
    return limits_matmul_library(&place, budget, &out->rate[LIMIT_FP32_LIBRARY][scope]);
}

static Status measure_scope(int threads, LimitsScope scope, Limits *out)
{
    enum { REPEATS = 15 };
    size_t bytes = 0;
    TRY(limits_cpu_memory_bytes(&bytes));
    TRY(limits_cpu_memory(threads, bytes, REPEATS, scope, out));
    TRY(caches_cpu_measure(threads, REPEATS, scope, out));
    return measure_matmul(threads, scope, out);
}

Status limits_cpu_measure(int threads, Limits *out)
{
    CpuInfo cpu;
    TRY(cpu_info_read(&cpu, ""));
    *out = (Limits){.memory_bytes = cpu.memory_total, .cache_bytes = cpu_info_cache(&cpu)};
    TRY(limits_key(threads, &out->key));
    TRY(thread_team_start(out->key.threads));
    const Interference before = interference_now();
    const double start = clock_seconds();
    TRY(measure_scope(out->key.threads, LIMITS_ALL, out));
    if (out->key.threads > 1) {
        TRY(measure_scope(1, LIMITS_ONE, out));
    } else {
        for (int i = 0; i < LIMIT_COUNT; i++) out->rate[i][LIMITS_ONE] = out->rate[i][LIMITS_ALL];
    }
    out->seconds = clock_seconds() - start;
    const InterferenceShares shares = interference_since(&before);
    out->steal = shares.steal;
    out->others = shares.others;
    snprintf(out->time_utc, sizeof out->time_utc, "%s", clock_utc().s);
    return ST_OK;
}
