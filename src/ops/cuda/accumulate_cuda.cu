/* The sum over micro-batches (ops/accumulate.c). */
#include "ops/cuda/launch_cuda.cuh"
#include "plan/step_state.h"

enum { THREADS = 256, ITEMS = 4, SUMS = 4 /* of a vector: 16 bytes */ };

/* ITEMS vectors a thread, a block's width apart, all of them on their way before the first is used. */
template <typename X>
__device__ __forceinline__ void add_vectors(float *y, const X *x, int64_t first, int64_t whole,
                                            float scale, bool writes)
{
    float v[ITEMS][SUMS], sum[ITEMS][SUMS] = {};
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int64_t i = first + k * THREADS * SUMS;
        if (i < whole) load_vector(v[k], x + i);
        if (i < whole && !writes) load_vector(sum[k], y + i);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int64_t i = first + k * THREADS * SUMS;
        if (i >= whole) return;
#pragma unroll
        for (int e = 0; e < SUMS; e++) sum[k][e] += scale * v[k][e];
        store_vector(y + i, sum[k]);
    }
}

/* The last few elements are added one by one. */
template <typename X>
__global__ void __launch_bounds__(THREADS)
    accumulate_kernel(float *y, const X *x, int64_t n, float scale, const double *state)
{
    const bool writes = state[STATE_MICRO_BATCH] == 0;
    const int64_t whole = n / SUMS * SUMS, left = whole + threadIdx.x;
    const int64_t first = ((int64_t)blockIdx.x * ITEMS * THREADS + threadIdx.x) * SUMS;
    add_vectors(y, x, first, whole, scale, writes);
    if (blockIdx.x == 0 && left < n)
        y[left] = (writes ? 0.0F : y[left]) + scale * to_float(x[left]);
}

/* Operands that are not aligned. */
__global__ void __launch_bounds__(THREADS)
    accumulate_plain_kernel(float *y, const Operand x, int64_t n, float scale, const double *state)
{
    const bool writes = state[STATE_MICRO_BATCH] == 0;
    const int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step)
        y[i] = (writes ? 0.0F : y[i]) + scale * x.get(i);
}

template <typename X> static Status add(const OpCall *call, int64_t n, float scale)
{
    const int64_t blocks = blocks_for(n, THREADS * ITEMS * SUMS);
    accumulate_kernel<<<(unsigned)blocks, THREADS, 0, call->backend->stream>>>(
        (float *)op_out(call, 0), (const X *)op_in(call, 0), n, scale,
        (const double *)op_in(call, 2));
    return LAUNCH_STATUS();
}

Status accumulate_cuda_run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    const int64_t n = plan_elements(x);
    const float scale = (float)call->node->attr.scale;
    const uintptr_t places = (uintptr_t)op_out(call, 0) | (uintptr_t)op_in(call, 0);
    if (places % 16 == 0 && n / (THREADS * ITEMS * SUMS) < INT32_MAX)
        DISPATCH_FLOAT(x->dtype, X, return add<X>(call, n, scale));
    accumulate_plain_kernel<<<grid_blocks(blocks_for(n, THREADS)), THREADS, 0,
                              call->backend->stream>>>(
        (float *)op_out(call, 0), operand_in(call, 0), n, scale, (const double *)op_in(call, 2));
    return LAUNCH_STATUS();
}
