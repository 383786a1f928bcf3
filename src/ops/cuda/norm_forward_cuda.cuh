/* RMSNorm and LayerNorm with the residual addition before them (ops/rmsnorm.c and ops/layernorm.c
 * have the formulas). They differ in what is known when a kernel is compiled, CENTERED: LayerNorm
 * subtracts the mean of a row and adds a bias. The fast kernels hold a row in registers, so that
 * memory is gone over once. */
#pragma once

#include "ops/cuda/norm_rows_cuda.cuh"

struct ForwardArgs {
    Operand y, delta;
    float *r, *s, *m; /* s is NULL without delta; m is LayerNorm's */
    const float *x, *w, *b;
    int64_t rows, C;
    float eps;
};

__device__ __forceinline__ float squares(const float (&v)[QUAD])
{
    float sum = 0;
#pragma unroll
    for (int e = 0; e < QUAD; e++) sum += v[e] * v[e];
    return sum;
}

__device__ __forceinline__ float total(const float (&v)[QUAD])
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

template <typename A, bool CENTERED>
__device__ __forceinline__ void store_normed(const ForwardArgs &f, int64_t at,
                                             const float (&v)[QUAD], float r,
                                             const float (&w)[QUAD], const float (&b)[QUAD])
{
    float y[QUAD];
#pragma unroll
    for (int e = 0; e < QUAD; e++) {
        y[e] = v[e] * r * w[e];
        if constexpr (CENTERED) y[e] += b[e];
    }
    store_vector(static_cast<A *>(f.y.data) + at, y);
}

/* v = v - mean; returns the thread's part of the sum of squares. The variance is not made of a
 * difference of sums, which would lose digits where the mean is large. */
template <int QUADS>
__device__ __forceinline__ float center(float (&v)[QUADS][QUAD], const int (&column)[QUADS], int C,
                                        float mean)
{
    float sum = 0;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        if (column[k] >= C) continue;
#pragma unroll
        for (int e = 0; e < QUAD; e++) v[k][e] -= mean;
        sum += squares(v[k]);
    }
    return sum;
}

/* 1 / sqrt(mean square) of a row, of which the thread holds v; `sum` is the thread's part of the
 * sum of squares, or of elements where the mean is subtracted first. */
template <int QUADS, bool CENTERED>
__device__ __forceinline__ float row_rstd(const ForwardArgs &f, int64_t row,
                                          float (&v)[QUADS][QUAD], const int (&column)[QUADS],
                                          float sum, RowSums<1> &shared)
{
    if constexpr (!CENTERED) return rsqrtf(block_sum(sum, shared[0][0]) / (float)f.C + f.eps);
    float sums[1] = {sum};
    row_sums<1>(sums, shared, 0);
    const float mean = sums[0] / (float)f.C;
    if (threadIdx.x == 0) f.m[row] = mean;
    sums[0] = center<QUADS>(v, column, (int)f.C, mean);
    row_sums<1>(sums, shared, 1);
    return rsqrtf(sums[0] / (float)f.C + f.eps);
}

/* One row a block at a time; a thread has QUADS quads of it, a block's width apart. */
template <typename A, int QUADS, bool CENTERED>
__device__ __forceinline__ void norm_forward_rows(const ForwardArgs &f)
{
    wait_for_dependency();
    __shared__ RowSums<1> shared;
    float w[QUADS][QUAD], b[QUADS][QUAD], v[QUADS][QUAD], delta[QUADS][QUAD];
    int column[QUADS];
    const int C = (int)f.C;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        column[k] = (int)(threadIdx.x + k * blockDim.x) * QUAD;
        if (column[k] < C) load_vector(w[k], f.w + column[k]);
        if (CENTERED && column[k] < C) load_vector(b[k], f.b + column[k]);
    }
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * C;
        float sum = 0;
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] >= C) continue;
            load_vector(v[k], f.x + at + column[k]);
            if (f.s) load_vector(delta[k], static_cast<const A *>(f.delta.data) + at + column[k]);
        }
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] >= C) continue;
            if (f.s) add_quad(v[k], delta[k]);
            if (f.s) store_vector(f.s + at + column[k], v[k]);
            sum += CENTERED ? total(v[k]) : squares(v[k]);
        }
        const float r = row_rstd<QUADS, CENTERED>(f, row, v, column, sum, shared);
        if (threadIdx.x == 0) f.r[row] = r;
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] < C) store_normed<A, CENTERED>(f, at + column[k], v[k], r, w[k], b[k]);
        }
    }
}

/* Any width, alignment and mixture of dtypes. */
template <bool CENTERED> __device__ __forceinline__ void norm_forward_plain(const ForwardArgs &f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.C;
        float sum = 0, mean = 0;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            float v = f.x[at + j];
            if (f.s) f.s[at + j] = v += f.delta.get(at + j);
            sum += CENTERED ? v : v * v;
        }
        const float *v = f.s ? f.s : f.x;
        if constexpr (CENTERED) {
            mean = block_sum(sum, shared) / (float)f.C;
            if (threadIdx.x == 0) f.m[row] = mean;
            sum = 0;
            for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
                sum += (v[at + j] - mean) * (v[at + j] - mean);
            }
        }
        const float r = rsqrtf(block_sum(sum, shared) / (float)f.C + f.eps);
        if (threadIdx.x == 0) f.r[row] = r;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            const float y = (v[at + j] - mean) * r * f.w[j];
            f.y.set(at + j, CENTERED ? y + f.b[j] : y);
        }
    }
}

/* `two` and `four` are the kernels with 2 and 4 quads a thread. */
static inline Status norm_forward_launch(const OpCall *call, const ForwardArgs &f,
                                         void (*two)(ForwardArgs), void (*four)(ForwardArgs))
{
    const int threads = row_threads(f.C);
    const bool is_short = f.C <= 2 * QUAD * threads;
    const int blocks =
        even_blocks(f.rows, call->backend->sms * ((is_short ? 1024 : 640) / threads));
    return launch_dependent(call->backend, is_short ? two : four, blocks, threads, f);
}
