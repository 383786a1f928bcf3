#include "bench/limits/limits.h"

#include "backend/cpu_threads.h"
#include "base/stats.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/microkernel_cpu.h"
#include "version.h"

#include <stdio.h>

const struct LimitsName limits_names[LIMIT_COUNT] = {
#define LIMIT(id, name, label, kind, on) {name, label, LIMITS_##kind, LIMITS_ON_##on},
#include "bench/limits/limits.def"
};

const char *limits_unit(LimitId id)
{
    static const char *const units[] = {
        [LIMITS_MATMUL] = "FLOP/s",   [LIMITS_MEMORY] = "byte/s", [LIMITS_CACHE] = "byte/s",
        [LIMITS_TRANSFER] = "byte/s", [LIMITS_LATENCY] = "s",     [LIMITS_LAUNCHES] = "1/s"};
    return units[limits_names[id].kind];
}

bool limits_has(const LimitsKey *key, LimitId id)
{
    if (limits_is_link(id)) return *key->mpi != '\0';
    return (limits_names[id].on & (*key->gpu ? LIMITS_ON_GPU : LIMITS_ON_CPU)) != 0;
}

bool limits_has_scope(const LimitsKey *key, LimitId id, LimitsScope scope)
{
    return scope == LIMITS_ALL || !(*key->gpu || limits_is_link(id));
}

bool limits_is_link(LimitId id)
{
    return id >= LIMIT_ALL_REDUCE_2_LATENCY && id <= LIMIT_BROADCAST_4_BANDWIDTH;
}

Status limits_key(int threads, LimitsKey *key)
{
    CpuInfo cpu;
    TRY(cpu_info_read(&cpu, ""));
    *key = (LimitsKey){.cores = cpu.usable_cores};
    key->threads = threads > 0 ? threads : cpu_threads_usual(&cpu);
    snprintf(key->cpu, sizeof key->cpu, "%s", cpu.name);
    snprintf(key->blas, sizeof key->blas, "%s, own %s", blas_cpu_name(), microkernel_names().s);
    snprintf(key->version, sizeof key->version, "%s", ROOFSTEP_VERSION);
    return ST_OK;
}

bool limits_shows(const Limits *limits, LimitId id)
{
    const bool everywhere = !limits_is_link(id) && limits_names[id].kind != LIMITS_CACHE &&
                            !(id >= LIMIT_FP8_LARGEST && id <= LIMIT_FP8_WEIGHT_GRAD);
    return limits_has(&limits->key, id) && (everywhere || limits->rate[id][LIMITS_ALL].n > 0);
}

LimitsDeviceName limits_device_name(const Limits *limits)
{
    LimitsDeviceName name;
    const LimitsKey *key = &limits->key;
    if (*key->gpu)
        snprintf(name.s, sizeof name.s, "%s", key->gpu);
    else
        snprintf(name.s, sizeof name.s, "%s, %d thread%s", key->cpu, key->threads,
                 key->threads == 1 ? "" : "s");
    return name;
}

LimitsRate limits_rate_of(const double *rates, int n)
{
    if (n == 0) return (LimitsRate){0};
    return (LimitsRate){stats_median(rates, n), stats_quantile(rates, n, 0),
                        stats_quantile(rates, n, 1), n};
}

LimitId limits_largest(Precision precision)
{
    static const LimitId rows[PRECISION_COUNT] = {
        [PRECISION_FP32] = LIMIT_FP32_LARGEST, [PRECISION_TF32] = LIMIT_TF32_LARGEST,
        [PRECISION_BF16] = LIMIT_BF16_LARGEST, [PRECISION_FP16] = LIMIT_FP16_LARGEST,
        [PRECISION_FP8] = LIMIT_FP8_LARGEST,
    };
    return rows[precision];
}

double limits_peak_flops(const Limits *limits, Precision precision)
{
    double peak = 0;
    for (int i = 0; i < 1 + LIMITS_PASSES; i++) {
        const double here = limits->rate[(int)limits_largest(precision) + i][LIMITS_ALL].max;
        peak = here > peak ? here : peak;
    }
    const double library = limits->rate[LIMIT_FP32_LIBRARY][LIMITS_ALL].max;
    return precision == PRECISION_FP32 && library > peak ? library : peak;
}

bool limits_was_busy(const Limits *limits)
{
    return limits->steal > 0.01 || limits->others > 0.03;
}
