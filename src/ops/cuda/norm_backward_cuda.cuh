/* The gradients of RMSNorm and LayerNorm (ops/rmsnorm.c and ops/layernorm.c have the formulas);
 * CENTERED as in norm_forward_cuda.cuh. */
#pragma once

#include "ops/cuda/norm_rows_cuda.cuh"

struct BackwardArgs {
    Operand ddelta, dy;
    float *dx, *partial; /* dx may be ds */
    const float *s, *w, *r, *m, *ds;
    int64_t rows, C;
};

/* What a thread holds of a row, a quad of each operand; dy as it was read takes fewer registers. */
template <typename A> struct RowVector {
    Vector<A, QUAD> dy;
    float s[QUAD], ds[QUAD];
};

/* Of a row: 1 / sqrt, and what is subtracted from its gradient, a multiple of s and a number. */
struct RowFactors {
    float r, k, shift;
};

template <typename A>
__device__ __forceinline__ void load_held(RowVector<A> &a, const BackwardArgs &f, int64_t at)
{
    load_raw(a.dy, static_cast<const A *>(f.dy.data) + at);
    load_vector(a.s, f.s + at);
    if (f.ds) load_vector(a.ds, f.ds + at);
}

/* sums[0] += g s; with a mean, s = s - mean and sums[1] += g. */
template <typename A, bool CENTERED, int SUMS>
__device__ __forceinline__ void sum_held(RowVector<A> &a, const float (&w)[QUAD], float mean,
                                         float (&sums)[SUMS])
{
    float dot = 0, dy[QUAD];
    widen(dy, a.dy);
#pragma unroll
    for (int e = 0; e < QUAD; e++) {
        if constexpr (CENTERED) {
            a.s[e] -= mean;
            sums[SUMS - 1] += dy[e] * w[e];
        }
        dot += dy[e] * w[e] * a.s[e];
    }
    sums[0] += dot;
}

template <typename A, bool CENTERED>
__device__ __forceinline__ void store_held(const BackwardArgs &f, int64_t at, const RowVector<A> &a,
                                           const RowFactors &row, const float (&w)[QUAD],
                                           float (&dw)[QUAD], float (&db)[QUAD])
{
    float dx[QUAD], dy[QUAD];
    widen(dy, a.dy);
#pragma unroll
    for (int e = 0; e < QUAD; e++) {
        dx[e] = (f.ds ? a.ds[e] : 0.0F) + dy[e] * w[e] * row.r - a.s[e] * row.k;
        dw[e] += dy[e] * a.s[e] * row.r;
        if constexpr (CENTERED) {
            dx[e] -= row.shift;
            db[e] += dy[e];
        }
    }
    store_vector(f.dx + at, dx);
    if (f.ddelta.data) store_vector(static_cast<A *>(f.ddelta.data) + at, dx);
}

/* Adds up a gradient over the rows of threads, of which the first needs no shared memory, and writes the
 * block's partial row. */
template <int QUADS>
__device__ __forceinline__ void store_partial(float *partial, int64_t C, float (&sum)[QUADS][QUAD],
                                              Vector<float, QUAD> *shared)
{
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const int mine = k * blockDim.x + threadIdx.x, row = QUADS * blockDim.x;
        if (threadIdx.y > 0) store_vector(shared[(threadIdx.y - 1) * row + mine].v, sum[k]);
    }
    __syncthreads();
    if (threadIdx.y > 0) return;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const int mine = k * blockDim.x + threadIdx.x, row = QUADS * blockDim.x;
        for (int y = 0; y < (int)blockDim.y - 1; y++) add_quad(sum[k], shared[y * row + mine].v);
        const int64_t column = (int64_t)mine * QUAD;
        if (column < C) store_vector(partial + column, sum[k]);
    }
}

/* blockDim.y rows a block at a time, blockDim.x threads each; threads keep their columns, and so the
 * sums of dw and db stay in registers until the last row. */
template <typename A, int QUADS, bool CENTERED>
__device__ __forceinline__ void norm_backward_rows(const BackwardArgs &f)
{
    wait_for_dependency();
    constexpr int SUMS = CENTERED ? 2 : 1;
    __shared__ RowSums<SUMS> shared;
    __shared__ Vector<float, QUAD> rows[(ROW_THREADS - 32) * QUADS];
    float w[QUADS][QUAD], dw[QUADS][QUAD] = {}, db[QUADS][QUAD] = {};
    int column[QUADS];
    const int C = (int)f.C;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        column[k] = (int)(threadIdx.x + k * blockDim.x) * QUAD;
        if (column[k] < C) load_vector(w[k], f.w + column[k]);
    }
    int turn = 0;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.y; first < f.rows;
         first += (int64_t)gridDim.x * blockDim.y) {
        const int64_t row = first + threadIdx.y, at = row * C;
        const int end = row < f.rows ? C : 0;
        const float r = end ? f.r[row] : 0, mean = CENTERED && end ? f.m[row] : 0;
        RowVector<A> held[QUADS];
        float sums[SUMS] = {};
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] < end) load_held<A>(held[k], f, at + column[k]);
        }
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] < end) sum_held<A, CENTERED, SUMS>(held[k], w[k], mean, sums);
        }
        row_sums<SUMS>(sums, shared, turn);
        turn ^= 1;
        const RowFactors factors = {r, sums[0] / (float)C * r * r * r,
                                    sums[SUMS - 1] / (float)C * r};
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] < end)
                store_held<A, CENTERED>(f, at + column[k], held[k], factors, w[k], dw[k], db[k]);
        }
    }
    store_partial<QUADS>(f.partial + blockIdx.x * f.C, f.C, dw, rows);
    if constexpr (CENTERED) {
        __syncthreads();
        store_partial<QUADS>(f.partial + (gridDim.x + (int64_t)blockIdx.x) * f.C, f.C, db, rows);
    }
}

/* Any width, alignment and mixture of dtypes. Threads own columns, so that nobody else touches
 * their part of the block's partial rows. */
template <bool CENTERED> __device__ __forceinline__ void norm_backward_plain(const BackwardArgs &f)
{
    __shared__ float shared[THREADS / 32];
    float *dw = f.partial + blockIdx.x * f.C, *db = dw + gridDim.x * f.C;
    for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
        dw[j] = 0;
        if constexpr (CENTERED) db[j] = 0;
    }
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.C;
        const float mean = CENTERED ? f.m[row] : 0.0F, r = f.r[row];
        float dot = 0, sum = 0;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            const float g = f.dy.get(at + j) * f.w[j];
            dot += g * (f.s[at + j] - mean);
            if constexpr (CENTERED) sum += g;
        }
        const float k = block_sum(dot, shared) / (float)f.C * r * r * r;
        const float shift = CENTERED ? block_sum(sum, shared) / (float)f.C * r : 0.0F;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            const float dy = f.dy.get(at + j), s = f.s[at + j] - mean;
            const float d = (f.ds ? f.ds[at + j] : 0.0F) + dy * f.w[j] * r - s * k - shift;
            f.dx[at + j] = d;
            if (f.ddelta.data) f.ddelta.set(at + j, d);
            dw[j] += dy * s * r;
            if constexpr (CENTERED) db[j] += dy;
        }
    }
}

/* `two` and `four` are the kernels with 2 and 4 quads a thread. */
static inline Status norm_backward_launch(const OpCall *call, const BackwardArgs &f,
                                          void (*two)(BackwardArgs), void (*four)(BackwardArgs),
                                          int *partials)
{
    const int threads = row_threads(f.C), rows = ROW_THREADS / threads;
    const bool is_short = f.C <= 2 * QUAD * threads;
    const int room = call->backend->sms * ((is_short ? 1024 : 512) / (threads * rows));
    const int blocks =
        even_blocks(blocks_for(f.rows, rows), (int)std::min<int64_t>(room, MOST_PARTIALS));
    *partials = blocks;
    return launch_dependent(call->backend, is_short ? two : four, blocks, dim3(threads, rows), f);
}
