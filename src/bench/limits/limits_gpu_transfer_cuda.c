#include "base/clock.h"
#include "bench/limits/limits_gpu_parts_cuda.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 256 << 20, REPEATS = 10 };

typedef struct Ends {
    void *device, *pinned, *pageable;
} Ends;

static Status transfer(Backend *be, void *to, const void *from, enum cudaMemcpyKind way,
                       double *seconds)
{
    const double start = clock_seconds();
    TRY_CUDA(cudaMemcpyAsync(to, from, BYTES, way, be->stream));
    TRY_CUDA(cudaStreamSynchronize(be->stream));
    *seconds = clock_seconds() - start;
    return ST_OK;
}

static Status rate_of(Backend *be, void *to, const void *from, enum cudaMemcpyKind way,
                      LimitsRate *out)
{
    double rates[REPEATS], seconds = 0;
    TRY(transfer(be, to, from, way, &seconds)); /* wakes the link up */
    for (int i = 0; i < REPEATS; i++) {
        TRY(transfer(be, to, from, way, &seconds));
        rates[i] = (double)BYTES / seconds;
    }
    *out = limits_rate_of(rates, REPEATS);
    return ST_OK;
}

static Status both_ways(Backend *be, void *device, void *host, LimitsRate *there, LimitsRate *back)
{
    memset(host, 1, BYTES); /* its pages are there before anything is timed */
    TRY(rate_of(be, device, host, cudaMemcpyHostToDevice, there));
    return rate_of(be, host, device, cudaMemcpyDeviceToHost, back);
}

static Status measure(Backend *be, Ends *x, Limits *out)
{
    TRY_CUDA(cudaMalloc(&x->device, BYTES));
    TRY_CUDA(cudaMallocHost(&x->pinned, BYTES));
    x->pageable = malloc(BYTES);
    if (!x->pageable) return NO_MEMORY("for %d bytes to transfer", BYTES);
    TRY(both_ways(be, x->device, x->pinned, &out->rate[LIMIT_TO_DEVICE][LIMITS_ALL],
                  &out->rate[LIMIT_TO_HOST][LIMITS_ALL]));
    return both_ways(be, x->device, x->pageable, &out->rate[LIMIT_TO_DEVICE_PAGEABLE][LIMITS_ALL],
                     &out->rate[LIMIT_TO_HOST_PAGEABLE][LIMITS_ALL]);
}

Status limits_gpu_transfer(Backend *be, Limits *out)
{
    Ends x = {0};
    const Status status = measure(be, &x, out);
    cudaFree(x.device);
    cudaFreeHost(x.pinned);
    free(x.pageable);
    return status;
}
