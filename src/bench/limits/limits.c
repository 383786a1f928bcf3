#include "bench/limits/limits.h"

#include "backend/cpu_threads.h"
#include "base/cache_dir.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "bench/limits/limits_json.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/microkernel_cpu.h"
#include "version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct LimitsName limits_names[LIMIT_COUNT] = {
#define LIMIT(id, name, label, kind, on) {name, label, LIMITS_##kind, LIMITS_ON_##on},
#include "bench/limits/limits.def"
#undef LIMIT
};

const char *limits_unit(LimitId id)
{
    static const char *const units[] = {[LIMITS_PRODUCT] = "FLOP/s",
                                        [LIMITS_MEMORY] = "byte/s",
                                        [LIMITS_TRANSFER] = "byte/s",
                                        [LIMITS_LATENCY] = "s",
                                        [LIMITS_LAUNCHES] = "1/s"};
    return units[limits_names[id].kind];
}

bool limits_has(const LimitsKey *key, LimitId id)
{
    return (limits_names[id].on & (*key->gpu ? LIMITS_ON_GPU : LIMITS_ON_CPU)) != 0;
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

/* ---- storing ---- */

static bool same_key(const LimitsKey *a, const LimitsKey *b)
{
    return strcmp(a->gpu, b->gpu) == 0 && a->multiprocessors == b->multiprocessors &&
           strcmp(a->cpu, b->cpu) == 0 && strcmp(a->blas, b->blas) == 0 &&
           strcmp(a->version, b->version) == 0 && a->cores == b->cores && a->threads == b->threads;
}

/* limits-HASH.json in the cache folder; the key itself is in the file. */
static Status cache_path(const LimitsKey *key, const char *kernels, bool make, Text *path)
{
    TRY(cache_dir_path(path, make));
    Text name = {0};
    text_printf(&name, "%s|%s|%s|%s|%d|%d", key->cpu, key->blas, key->version, kernels, key->cores,
                key->threads);
    if (*key->gpu) text_printf(&name, "|%s|%d", key->gpu, key->multiprocessors);
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (const char *c = text_str(&name); *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619U;
    text_free(&name);
    text_printf(path, "/limits-%08x.json", hash);
    return text_status(path);
}

static bool load_from(const char *path, const LimitsKey *key, Limits *out)
{
    enum { LARGEST = 1 << 20 };
    Text text = {0};
    Status status = text_read_file(&text, path, LARGEST);
    if (status == ST_OK) status = limits_json_read(out, text_str(&text), text.n);
    text_free(&text);
    if (status != ST_OK) {
        log_warning("stored limits in %s are ignored: %s; 'roofstep limits' measures them again",
                    path, status_message());
        return false;
    }
    out->stored = true;
    return same_key(&out->key, key) && strcmp(out->kernels, ROOFSTEP_KERNELS) == 0;
}

bool limits_load(const LimitsKey *key, Limits *out)
{
    Text path = {0};
    const bool found = cache_path(key, ROOFSTEP_KERNELS, false, &path) == ST_OK &&
                       access(text_str(&path), F_OK) == 0 && load_from(text_str(&path), key, out);
    text_free(&path);
    return found;
}

static Status store_at(const char *path, const Limits *limits)
{
    json_t *json;
    TRY(limits_json_encode(&json, limits));
    char *text = json_text_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    json_decref(json);
    if (!text) return NO_MEMORY("for the limits as JSON");
    const Status status = text_write_file(path, text, strlen(text));
    free(text);
    return status;
}

Status limits_store(const Limits *limits)
{
    Text path = {0};
    const char *kernels = *limits->kernels ? limits->kernels : ROOFSTEP_KERNELS;
    Status status = cache_path(&limits->key, kernels, true, &path);
    if (status == ST_OK) status = store_at(text_str(&path), limits);
    text_free(&path);
    return status;
}

LimitId limits_largest(Precision precision)
{
    static const LimitId rows[PRECISION_COUNT] = {
        [PRECISION_FP32] = LIMIT_FP32_LARGEST,
        [PRECISION_TF32] = LIMIT_TF32_LARGEST,
        [PRECISION_BF16] = LIMIT_BF16_LARGEST,
        [PRECISION_FP16] = LIMIT_FP16_LARGEST,
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
