#include "backend/cpu_info.h"
#include "backend/gpu_libraries.h"
#include "base/clock.h"
#include "base/text.h"
#include "bench/limits/limits_gpu.h"
#include "bench/limits/limits_gpu_parts_cuda.h"
#include "bench/limits/limits_matmul.h"
#include "bench/measure/gpu_watch.h"
#include "version.h"

#include <stdio.h>
#include <unistd.h>

Status limits_gpu_key(int device, LimitsKey *key)
{
    CpuInfo cpu;
    GpuLibraries libraries;
    struct cudaDeviceProp gpu;
    TRY(cpu_info_read(&cpu, ""));
    TRY_CUDA(cudaGetDeviceProperties(&gpu, device));
    gpu_libraries_read(&libraries);
    *key = (LimitsKey){.multiprocessors = gpu.multiProcessorCount};
    snprintf(key->gpu, sizeof key->gpu, "%.95s", gpu.name);
    snprintf(key->cpu, sizeof key->cpu, "%s", cpu.name);
    snprintf(key->blas, sizeof key->blas, "cuBLASLt %s, CUDA %s", libraries.cublaslt,
             libraries.cuda);
    snprintf(key->version, sizeof key->version, "%s", ROOFSTEP_VERSION);
    return ST_OK;
}

/* ---- what others do ---- */

/* The driver's figure is of the last second at most: a program that has just ended is waited for. */
static double used_by_others(NvmlInfo *gpu)
{
    static const double little = 0.03;
    enum { TURNS = 3, PAUSE_US = 700000 };
    double used = 0;
    for (int i = 0; i < TURNS; i++) {
        if (!nvml_info_utilization(gpu, &used)) return 0;
        if (used < little) break;
        usleep(PAUSE_US);
    }
    return used;
}

static void put_throttled(const GpuWatch *watch, Limits *out)
{
    uint64_t left = watch->reasons;
    CLEANUP(text_free) Text text = {0};
    const char *reason;
    while ((reason = nvml_info_next_reason(&left))) {
        text_printf(&text, "%s%s", text.n ? ", " : "", reason);
    }
    if (text.n) text_printf(&text, " (in %d of %d looks)", watch->slow_looks, watch->looks);
    snprintf(out->throttled, sizeof out->throttled, "%s", text_str(&text));
}

static void look(void *watch)
{
    gpu_watch_step(watch);
}

/* ---- measuring ---- */

enum { TENSOR_CORES_TF32 = 80 }; /* the compute capability from which bf16 and tf32 are there */

static Status measure_matmul(int device, int capability, GpuWatch *watch, Limits *out)
{
    static const struct {
        Precision precision;
        int capability;
    } rows[] = {{PRECISION_FP32, 0},
                {PRECISION_TF32, TENSOR_CORES_TF32},
                {PRECISION_BF16, TENSOR_CORES_TF32},
                {PRECISION_FP16, 0}};
    const LimitsBudget budget = {
        .large = 0.03, .model = 0.06, .repeats = 9, .pause = look, .self = watch};
    const Placement place = {.backend = BACKEND_cuda, .device = device, .threads = 1};
    Config model;
    config_defaults(&model);
    TRY(model_spec_preset(&model.model, LIMITS_GPU_MODEL));
    model.ctx = LIMITS_GPU_TOKENS / model.batch;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (capability < rows[i].capability) continue;
        TRY(limits_matmul_rows(&place, &model, rows[i].precision, &budget, LIMITS_ALL, out));
    }
    return ST_OK;
}

static Status measure_open(Backend *be, GpuWatch *watch, Limits *out)
{
    if (watch->gpu) out->others = used_by_others(watch->gpu);
    gpu_watch_start(watch);
    TRY(limits_gpu_memory(be, out));
    look(watch);
    TRY(limits_gpu_transfer(be, out));
    TRY(limits_gpu_launch(be, out));
    return measure_matmul(be->device, be->capability, watch, out);
}

static Status measure(int device, Limits *out)
{
    const BackendApi *api = backend_api(BACKEND_cuda);
    Backend *be = NULL;
    GpuWatch watch;
    TRY(api->open(&be, device, 1));
    gpu_watch_open(&watch, device);
    const Status status = measure_open(be, &watch, out);
    put_throttled(&watch, out);
    gpu_watch_close(&watch);
    api->close(be);
    return status;
}

Status limits_gpu_measure(int device, Limits *out)
{
    const double start = clock_seconds();
    struct cudaDeviceProp gpu;
    TRY_CUDA(cudaGetDeviceProperties(&gpu, device));
    *out = (Limits){.memory_bytes = (int64_t)gpu.totalGlobalMem,
                    .cache_bytes = gpu.l2CacheSize,
                    .capability = 10 * gpu.major + gpu.minor};
    TRY(limits_gpu_key(device, &out->key));
    TRY(measure(device, out));
    out->seconds = clock_seconds() - start;
    snprintf(out->time_utc, sizeof out->time_utc, "%s", clock_utc().s);
    return ST_OK;
}
