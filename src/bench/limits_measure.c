#include "backend/cpu_info.h"
#include "base/clock.h"
#include "bench/limits.h"
#include "bench/limits_memory.h"
#include "bench/limits_product.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct Meanwhile {
    CpuTicks ticks;
    double own; /* processor seconds of this process */
} Meanwhile;

static double own_seconds(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static Meanwhile meanwhile(void)
{
    Meanwhile now = {.own = own_seconds()};
    if (cpu_info_ticks(&now.ticks, "") != ST_OK) now.ticks = (CpuTicks){0};
    return now;
}

/* What the processors did since `then` that was neither idleness nor this process. */
static void note_others(Limits *out, const Meanwhile *then)
{
    const Meanwhile now = meanwhile();
    const double total = (double)(now.ticks.total - then->ticks.total);
    if (total <= 0) return;
    const double idle = (double)(now.ticks.idle - then->ticks.idle);
    const double steal = (double)(now.ticks.steal - then->ticks.steal);
    const double own = (now.own - then->own) * (double)sysconf(_SC_CLK_TCK);
    const double others = total - idle - steal - own;
    out->steal = steal / total;
    out->others = others > 0 ? others / total : 0;
}

static Status measure_products(int threads, LimitsScope scope, Limits *out)
{
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    const LimitsBudget budget = {.large = 0.06, .model = 0.06, .repeats = 5};
    const Placement place = {.backend = BACKEND_cpu, .threads = threads};
    Config model;
    config_defaults(&model);
    TRY(config_preset(&model, "small"));
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
        TRY(limits_product_rows(&place, &model, precisions[i], &budget, scope, out));
    }
    return ST_OK;
}

static Status measure_scope(int threads, LimitsScope scope, Limits *out)
{
    enum { REPEATS = 15 };
    size_t bytes = 0;
    TRY(limits_memory_bytes(&bytes));
    TRY(limits_memory_measure(threads, bytes, REPEATS, scope, out));
    return measure_products(threads, scope, out);
}

Status limits_measure(int threads, Limits *out)
{
    *out = (Limits){0};
    TRY(limits_key(threads, &out->key));
    const Meanwhile before = meanwhile();
    const double start = clock_seconds();
    TRY(measure_scope(out->key.threads, LIMITS_ALL, out));
    if (out->key.threads > 1) {
        TRY(measure_scope(1, LIMITS_ONE, out));
    } else {
        for (int i = 0; i < LIMIT_COUNT; i++) out->rate[i][LIMITS_ONE] = out->rate[i][LIMITS_ALL];
    }
    out->seconds = clock_seconds() - start;
    note_others(out, &before);
    snprintf(out->time_utc, sizeof out->time_utc, "%s", clock_utc().s);
    return ST_OK;
}
