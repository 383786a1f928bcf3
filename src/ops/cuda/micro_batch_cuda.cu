/* The tokens of the next micro-batch (ops/micro_batch.c): one block, so that all its threads have read
 * which one that is before the state moves on. */
#include "ops/cuda/launch_cuda.cuh"
#include "ops/micro_batch.h"

enum { THREADS = 1024 };

struct Ids {
    int32_t *own;
    const int32_t *all;
};

__global__ void __launch_bounds__(THREADS)
    micro_batch_kernel(const Ids tokens, const Ids targets, int64_t n, double micro_batches,
                       double *state)
{
    const double next = micro_batch_next(state, micro_batches);
    const int64_t first = (int64_t)next * n;
    __syncthreads();
    if (threadIdx.x == 0) micro_batch_begin(state, next, micro_batches);
    for (int64_t i = threadIdx.x; i < n; i += THREADS) {
        tokens.own[i] = tokens.all[first + i];
        targets.own[i] = targets.all[first + i];
    }
}

static Ids ids_of(const OpCall *call, int i)
{
    return {(int32_t *)op_out(call, i), (const int32_t *)op_in(call, i)};
}

Status micro_batch_cuda_run(const OpCall *call)
{
    const int64_t n = plan_elements(op_out_shape(call, 0));
    const double micro_batches = (double)(plan_elements(op_in_shape(call, 0)) / n);
    micro_batch_kernel<<<1, THREADS, 0, call->backend->stream>>>(
        ids_of(call, 0), ids_of(call, 1), n, micro_batches, (double *)op_out(call, 2));
    return LAUNCH_STATUS();
}
