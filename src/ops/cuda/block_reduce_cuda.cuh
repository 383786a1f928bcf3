/* Sums and maxima over a warp and a thread block. */
#pragma once

#include <cuda_runtime.h>

/* Every thread gets the result. */
__device__ __forceinline__ float warp_sum(float x)
{
#pragma unroll
    for (int i = 16; i > 0; i >>= 1) x += __shfl_xor_sync(0xffffffffU, x, i);
    return x;
}

__device__ __forceinline__ float warp_max(float x)
{
#pragma unroll
    for (int i = 16; i > 0; i >>= 1) x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, i));
    return x;
}

/* blockDim.x is a multiple of 32; `shared` holds one float for each warp. May be called again with
 * the same memory: it ends with a barrier. */
__device__ __forceinline__ float block_sum(float x, float *shared)
{
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    const int warps = blockDim.x / 32;
    float sum = 0;
    for (int i = 0; i < warps; i++) sum += shared[i];
    __syncthreads();
    return sum;
}

__device__ __forceinline__ float block_max(float x, float *shared)
{
    x = warp_max(x);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    const int warps = blockDim.x / 32;
    float most = shared[0];
    for (int i = 1; i < warps; i++) most = fmaxf(most, shared[i]);
    __syncthreads();
    return most;
}

/* Thread 0 gets the sum over the block, added in the same order every time. blockDim.x is a multiple
 * of 32; `shared` holds one double for each warp and may not be used again without a barrier. */
__device__ __forceinline__ double block_total(double x, double *shared)
{
#pragma unroll
    for (int i = 16; i > 0; i >>= 1) x += __shfl_xor_sync(0xffffffffU, x, i);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    double sum = 0;
    for (unsigned i = 0; threadIdx.x == 0 && i < blockDim.x / 32; i++) sum += shared[i];
    return sum;
}
