#include "bench/limits/limits_gpu_parts_cuda.h"
#include "bench/limits/limits_kernels_cuda.h"

enum { TRIES = 3, REPEATS = 15 };

typedef Status Walk(Backend *be, int way, void *to, const void *from, size_t bytes);

typedef struct Arrays {
    void *to, *from;
    size_t bytes; /* of each */
} Arrays;

static Status time_walk(Backend *be, Walk *walk, int way, const Arrays *x, double *seconds)
{
    float ms = 0;
    TRY_CUDA(cudaEventRecord(be->marks[0], be->stream));
    TRY(walk(be, way, x->to, x->from, x->bytes));
    TRY_CUDA(cudaEventRecord(be->marks[1], be->stream));
    TRY_CUDA(cudaEventSynchronize(be->marks[1]));
    TRY_CUDA(cudaEventElapsedTime(&ms, be->marks[0], be->marks[1]));
    *seconds = (double)ms * 1e-3;
    return ST_OK;
}

static Status fastest_way(Backend *be, Walk *walk, const Arrays *x, int *best)
{
    double least = 0;
    for (int way = 0; way < LIMITS_KERNELS_WAYS; way++) {
        for (int i = 0; i <= TRIES; i++) {
            double seconds = 0;
            TRY(time_walk(be, walk, way, x, &seconds));
            if (i == 0) continue; /* loads the kernel */
            if (least > 0 && seconds >= least) continue;
            least = seconds;
            *best = way;
        }
    }
    return ST_OK;
}

/* `streams` is how often each byte of an array crosses to or from memory. */
static Status walk_rate(Backend *be, Walk *walk, int streams, const Arrays *x, LimitsRate *out)
{
    double rates[REPEATS];
    int way = 0;
    TRY(fastest_way(be, walk, x, &way));
    for (int i = 0; i < REPEATS; i++) {
        double seconds = 1;
        TRY(time_walk(be, walk, way, x, &seconds));
        rates[i] = (double)streams * (double)x->bytes / seconds;
    }
    *out = limits_rate_of(rates, REPEATS);
    return ST_OK;
}

static Status choose_bytes(Backend *be, size_t *bytes)
{
    int cache = 0;
    size_t left = 0, total = 0;
    TRY_CUDA(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, be->device));
    TRY_CUDA(cudaMemGetInfo(&left, &total));
    const size_t wanted = 64 * (size_t)cache, least = (size_t)1 << 30;
    *bytes = wanted > least ? wanted : least;
    if (*bytes > left / 4) *bytes = left / 4;
    *bytes = *bytes / LIMITS_KERNELS_UNIT * LIMITS_KERNELS_UNIT;
    if (*bytes > 0) return ST_OK;
    return FAIL(ST_NO_MEMORY, "no free memory on cuda:%d to measure its bandwidth", be->device);
}

static Status measure(Backend *be, const Arrays *x, Limits *out)
{
    TRY_CUDA(cudaMemsetAsync(x->from, 1, x->bytes, be->stream));
    TRY(walk_rate(be, limits_kernels_read, 1, x, &out->rate[LIMIT_READ][LIMITS_ALL]));
    TRY(walk_rate(be, limits_kernels_write, 1, x, &out->rate[LIMIT_WRITE][LIMITS_ALL]));
    return walk_rate(be, limits_kernels_copy, 2, x, &out->rate[LIMIT_COPY][LIMITS_ALL]);
}

Status limits_gpu_memory(Backend *be, Limits *out)
{
    Arrays x = {0};
    TRY(choose_bytes(be, &x.bytes));
    Status status = cuda_backend_status(cudaMalloc(&x.to, x.bytes), "cudaMalloc");
    if (status == ST_OK) {
        status = cuda_backend_status(cudaMalloc(&x.from, x.bytes), "cudaMalloc");
    }
    if (status == ST_OK) status = measure(be, &x, out);
    cudaFree(x.to);
    cudaFree(x.from);
    return status;
}
