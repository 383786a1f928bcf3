#include "bench/limits/caches_cpu.h"

#include "backend/cpu_info.h"
#include "base/clock.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <string.h>
#include <sys/mman.h>

/* 64 bytes, in as many instructions as the processor needs for them. */
typedef uint64_t Wide __attribute__((vector_size(64)));
enum { LANES = 4 }; /* that an addition does not wait for the one before it */

CPU_CLONES static uint64_t sum_often(const Wide *a, int64_t n, int64_t times)
{
    Wide lane[LANES] = {{0}};
    for (int64_t t = 0; t < times; t++) {
        for (int64_t i = 0; i < n; i += LANES) {
            for (int k = 0; k < LANES; k++) lane[k] += a[i + k];
        }
        __asm__ volatile("" ::: "memory"); /* each time anew */
    }
    const Wide sum = lane[0] + lane[1] + lane[2] + lane[3];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

typedef struct Part {
    const char *base;
    size_t bytes, step; /* of one thread's array, and from one to the next */
    int64_t times;
} Part;

static void read_part(const void *data, int64_t first, int64_t last, int thread)
{
    static uint64_t sink; /* the compiler must not leave the sum out */
    const Part *part = data;
    (void)last;
    (void)thread;
    const Wide *a = (const Wide *)(const void *)(part->base + (size_t)first * part->step);
    const uint64_t sum = sum_often(a, (int64_t)(part->bytes / sizeof *a), part->times);
    __atomic_store_n(&sink, sum, __ATOMIC_RELAXED);
}

/* So that the pages are next to the core that reads them. */
static void touch_part(const void *data, int64_t first, int64_t last, int thread)
{
    const Part *part = data;
    (void)last;
    (void)thread;
    memset((char *)part->base + (size_t)first * part->step, 1, part->bytes);
}

/* A sample reads for a few milliseconds: starting the threads is nothing beside it. */
static LimitsRate rate_of(const Part *part, int threads, int repeats)
{
    double rates[LIMITS_MAX_REPEATS];
    const double bytes = (double)threads * (double)part->times * (double)part->bytes;
    thread_team_for(threads, threads, 0, touch_part, part);
    thread_team_for(threads, threads, 0, read_part, part);
    for (int i = 0; i < repeats; i++) {
        const double start = clock_seconds();
        thread_team_for(threads, threads, 0, read_part, part);
        rates[i] = bytes / (clock_seconds() - start);
    }
    return limits_rate_of(rates, repeats);
}

static Status measure(LimitsRate *rate, size_t bytes, int threads, int repeats)
{
    enum { WHOLE = LANES * sizeof(Wide), PAGE = 4096 };
    static const size_t read_at_once = (size_t)96 << 20;
    bytes = bytes / WHOLE * WHOLE;
    const size_t step = (bytes + PAGE - 1) / PAGE * PAGE + PAGE, all = step * (size_t)threads;
    void *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NO_MEMORY("for %zu bytes to measure caches", all);
    const Part part = {at, bytes, step, 1 + (int64_t)(read_at_once / bytes)};
    *rate = rate_of(&part, threads, repeats);
    munmap(at, all);
    return ST_OK;
}

/* Of the last level each thread reads its share: of one cache where a single thread runs. */
static size_t share_of_l3(const CpuInfo *cpu, int threads)
{
    const int64_t all = cpu->l3 * cpu->l3_instances / 2 / threads;
    return (size_t)(all < cpu->l3 / 2 ? all : cpu->l3 / 2);
}

Status caches_cpu_measure(int threads, int repeats, LimitsScope scope, Limits *out)
{
    enum { LEAST = 4096 };
    CpuInfo cpu;
    TRY(cpu_info_read(&cpu, ""));
    const size_t sizes[] = {(size_t)cpu.l1d / 2, (size_t)cpu.l2 / 2, share_of_l3(&cpu, threads)};
    const size_t before[] = {LEAST, (size_t)cpu.l1d, (size_t)cpu.l2};
    if (repeats > LIMITS_MAX_REPEATS) repeats = LIMITS_MAX_REPEATS;
    for (int level = 0; level < 3; level++) {
        if (sizes[level] <= before[level]) continue;
        TRY(measure(&out->rate[LIMIT_L1_READ + level][scope], sizes[level], threads, repeats));
    }
    return ST_OK;
}
