#include "backend/cpu_threads.h"
#include "base/clock.h"
#include "bench/limits/limits.h"
#include "bench/limits/limits_matmul.h"
#include "bench/limits/limits_memory.h"
#include "bench/measure/interference.h"

#include <stdio.h>

static Status measure_products(int threads, LimitsScope scope, Limits *out)
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
    TRY(limits_memory_bytes(&bytes));
    TRY(limits_memory_measure(threads, bytes, REPEATS, scope, out));
    return measure_products(threads, scope, out);
}

static Status describe(Limits *out)
{
    CpuInfo cpu;
    TRY(cpu_info_read(&cpu, ""));
    out->memory_bytes = cpu.memory_total;
    out->cache_bytes = cpu_info_cache(&cpu);
    return ST_OK;
}

Status limits_measure(int threads, Limits *out)
{
    *out = (Limits){0};
    TRY(limits_key(threads, &out->key));
    TRY(describe(out));
    TRY(cpu_threads_start(out->key.threads));
    const Interference before = interference_now();
    const double start = clock_seconds();
    TRY(measure_scope(out->key.threads, LIMITS_ALL, out));
    if (out->key.threads > 1) {
        TRY(measure_scope(1, LIMITS_ONE, out));
    } else {
        for (int i = 0; i < LIMIT_COUNT; i++) out->rate[i][LIMITS_ONE] = out->rate[i][LIMITS_ALL];
    }
    out->seconds = clock_seconds() - start;
    const MeanwhileShares shares = interference_since(&before);
    out->steal = shares.steal;
    out->others = shares.others;
    snprintf(out->time_utc, sizeof out->time_utc, "%s", clock_utc().s);
    return ST_OK;
}
