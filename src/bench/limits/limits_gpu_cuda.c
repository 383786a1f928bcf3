#include "backend/cpu_info.h"
#include "backend/cuda_backend.h"
#include "backend/gpu_libraries.h"
#include "base/clock.h"
#include "base/text.h"
#include "bench/limits/limits_gpu.h"
#include "bench/limits/limits_kernels_cuda.h"
#include "bench/limits/limits_matmul.h"
#include "bench/measure/gpu_watch.h"
#include "version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- rates ---- */

/* One run of what is measured, and its seconds. */
typedef Status Timed(Backend *be, const void *self, double *seconds);

/* Of `amount` in each run; 0: the seconds of a run. */
static Status measure_rate(Backend *be, Timed *timed, const void *self, double amount, int repeats,
                           LimitsRate *out)
{
    double rates[LIMITS_MAX_REPEATS];
    for (int i = 0; i < repeats; i++) {
        double seconds = 1;
        TRY(timed(be, self, &seconds));
        rates[i] = amount > 0 ? amount / seconds : seconds;
    }
    *out = limits_rate_of(rates, repeats);
    return ST_OK;
}

/* ---- memory: arrays that no cache holds, 64 times the last-level cache and at least 1 GiB where a
 * quarter of the free memory is that much ---- */

enum { WALK_TRIES = 3, WALK_REPEATS = 15 };

typedef struct Walk {
    LimitsKernel kernel;
    int way;
    void *to, *from;
    size_t bytes; /* of each */
} Walk;

static Status time_walk(Backend *be, const void *self, double *seconds)
{
    const BackendApi *api = backend_api(BACKEND_cuda);
    const Walk *x = self;
    TRY(api->mark(be, 0));
    TRY(limits_kernels_walk(be, x->kernel, x->way, x->to, x->from, x->bytes));
    TRY(api->mark(be, 1));
    return api->elapsed(be, 0, 1, seconds);
}

static Status choose_way(Backend *be, Walk *walk)
{
    double least = 0;
    int best = 0;
    for (walk->way = 0; walk->way < LIMITS_KERNELS_WAYS; walk->way++) {
        for (int i = 0; i <= WALK_TRIES; i++) {
            double seconds = 0;
            TRY(time_walk(be, walk, &seconds));
            if (i == 0) continue; /* loads the kernel */
            if (least > 0 && seconds >= least) continue;
            least = seconds;
            best = walk->way;
        }
    }
    walk->way = best;
    return ST_OK;
}

/* `streams` is how often each byte of an array crosses to or from memory. */
static Status walk_rate(Backend *be, Walk *walk, LimitsKernel kernel, int streams, LimitsRate *out)
{
    walk->kernel = kernel;
    TRY(choose_way(be, walk));
    return measure_rate(be, time_walk, walk, (double)streams * (double)walk->bytes, WALK_REPEATS,
                        out);
}

static Status choose_bytes(const Backend *be, size_t cache, size_t *bytes)
{
    size_t left = 0, total = 0;
    TRY_CUDA(cudaMemGetInfo(&left, &total));
    const size_t wanted = 64 * cache, least = (size_t)1 << 30;
    *bytes = wanted > least ? wanted : least;
    if (*bytes > left / 4) *bytes = left / 4;
    *bytes = *bytes / LIMITS_KERNELS_UNIT * LIMITS_KERNELS_UNIT;
    if (*bytes > 0) return ST_OK;
    return FAIL(ST_NO_MEMORY, "no free memory on cuda:%d to measure its bandwidth", be->device);
}

static Status walk_rates(Backend *be, Walk *x, Limits *out)
{
    TRY_CUDA(cudaMalloc(&x->to, x->bytes));
    TRY_CUDA(cudaMalloc(&x->from, x->bytes));
    TRY_CUDA(cudaMemsetAsync(x->from, 1, x->bytes, be->stream));
    TRY(walk_rate(be, x, LIMITS_KERNEL_READ, 1, &out->rate[LIMIT_READ][LIMITS_ALL]));
    TRY(walk_rate(be, x, LIMITS_KERNEL_WRITE, 1, &out->rate[LIMIT_WRITE][LIMITS_ALL]));
    return walk_rate(be, x, LIMITS_KERNEL_COPY, 2, &out->rate[LIMIT_COPY][LIMITS_ALL]);
}

static Status measure_memory(Backend *be, Limits *out)
{
    Walk x = {0};
    TRY(choose_bytes(be, (size_t)out->cache_bytes, &x.bytes));
    const Status status = walk_rates(be, &x, out);
    cudaFree(x.to);
    cudaFree(x.from);
    return status;
}

/* ---- transfers, from pinned and from ordinary memory, by the host's clock ---- */

enum { TRANSFER_BYTES = 256 << 20, TRANSFER_REPEATS = 10 };

typedef struct Transfer {
    void *to;
    const void *from;
    enum cudaMemcpyKind way;
} Transfer;

static Status time_transfer(Backend *be, const void *self, double *seconds)
{
    const Transfer *x = self;
    const double start = clock_seconds();
    TRY_CUDA(cudaMemcpyAsync(x->to, x->from, TRANSFER_BYTES, x->way, be->stream));
    TRY_CUDA(cudaStreamSynchronize(be->stream));
    *seconds = clock_seconds() - start;
    return ST_OK;
}

static Status transfer_rate(Backend *be, Transfer x, LimitsRate *out)
{
    double seconds = 0;
    TRY(time_transfer(be, &x, &seconds)); /* wakes the link up */
    return measure_rate(be, time_transfer, &x, TRANSFER_BYTES, TRANSFER_REPEATS, out);
}

static Status both_ways(Backend *be, void *device, void *host, LimitsRate *there, LimitsRate *back)
{
    memset(host, 1, TRANSFER_BYTES); /* its pages are there before anything is timed */
    TRY(transfer_rate(be, (Transfer){device, host, cudaMemcpyHostToDevice}, there));
    return transfer_rate(be, (Transfer){host, device, cudaMemcpyDeviceToHost}, back);
}

typedef struct Ends {
    void *device, *pinned, *pageable;
} Ends;

static Status transfer_rates(Backend *be, Ends *x, Limits *out)
{
    TRY_CUDA(cudaMalloc(&x->device, TRANSFER_BYTES));
    TRY_CUDA(cudaMallocHost(&x->pinned, TRANSFER_BYTES));
    x->pageable = malloc(TRANSFER_BYTES);
    if (!x->pageable) return NO_MEMORY("for %d bytes to transfer", TRANSFER_BYTES);
    TRY(both_ways(be, x->device, x->pinned, &out->rate[LIMIT_TO_DEVICE][LIMITS_ALL],
                  &out->rate[LIMIT_TO_HOST][LIMITS_ALL]));
    return both_ways(be, x->device, x->pageable, &out->rate[LIMIT_TO_DEVICE_PAGEABLE][LIMITS_ALL],
                     &out->rate[LIMIT_TO_HOST_PAGEABLE][LIMITS_ALL]);
}

static Status measure_transfers(Backend *be, Limits *out)
{
    Ends x = {0};
    const Status status = transfer_rates(be, &x, out);
    cudaFree(x.device);
    cudaFreeHost(x.pinned);
    free(x.pageable);
    return status;
}

/* ---- launches of a kernel that does nothing ---- */

/* IN_A_ROW is fewer than the queue holds, so that what is measured is launching and not waiting for room. */
enum { ALONE = LIMITS_MAX_REPEATS, IN_A_ROW = 1000, WARM_UP = 200, LAUNCH_REPEATS = 15 };

static Status launch_many(Backend *be, int n)
{
    for (int i = 0; i < n; i++) TRY(limits_kernels_empty(be));
    return ST_OK;
}

/* From before the first launch until the host knows that the last has ended. */
static Status time_launches(Backend *be, const void *n, double *seconds)
{
    const double start = clock_seconds();
    TRY(launch_many(be, *(const int *)n));
    TRY_CUDA(cudaStreamSynchronize(be->stream));
    *seconds = clock_seconds() - start;
    return ST_OK;
}

static Status capture(Backend *be, const BackendApi *api, void **graph)
{
    TRY(api->capture_begin(be));
    const Status launched = launch_many(be, IN_A_ROW);
    const Status ended = api->capture_end(be, graph);
    return launched == ST_OK ? ended : launched;
}

static Status time_graph(Backend *be, const void *graph, double *seconds)
{
    const BackendApi *api = backend_api(BACKEND_cuda);
    TRY(api->mark(be, 0));
    TRY(api->launch(be, *(void *const *)graph));
    TRY(api->mark(be, 1));
    return api->elapsed(be, 0, 1, seconds);
}

static Status measure_graph(Backend *be, LimitsRate *out)
{
    const BackendApi *api = backend_api(BACKEND_cuda);
    void *graph = NULL;
    TRY(capture(be, api, &graph));
    Status status = api->launch(be, graph);
    if (status == ST_OK)
        status = measure_rate(be, time_graph, &graph, IN_A_ROW, LAUNCH_REPEATS, out);
    api->drop(be, graph);
    return status;
}

static Status measure_launches(Backend *be, Limits *out)
{
    static const int one = 1, many = IN_A_ROW, warm_up = WARM_UP;
    double seconds = 0;
    TRY(time_launches(be, &warm_up, &seconds));
    TRY(measure_rate(be, time_launches, &one, 0, ALONE,
                     &out->rate[LIMIT_LAUNCH_LATENCY][LIMITS_ALL]));
    TRY(measure_rate(be, time_launches, &many, IN_A_ROW, LAUNCH_REPEATS,
                     &out->rate[LIMIT_LAUNCHES][LIMITS_ALL]));
    return measure_graph(be, &out->rate[LIMIT_GRAPH_LAUNCHES][LIMITS_ALL]);
}

/* ---- matrix multiplications ---- */

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

/* ---- all of it ---- */

static Status measure_open(Backend *be, GpuWatch *watch, Limits *out)
{
    if (watch->gpu) out->others = used_by_others(watch->gpu);
    gpu_watch_start(watch);
    TRY(measure_memory(be, out));
    look(watch);
    TRY(measure_transfers(be, out));
    TRY(measure_launches(be, out));
    return measure_matmul(be->device, be->capability, watch, out);
}

static Status measure(int device, Limits *out)
{
    const BackendApi *api = backend_api(BACKEND_cuda);
    Backend *be = NULL;
    GpuWatch watch;
    TRY(api->open(&be, device));
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
