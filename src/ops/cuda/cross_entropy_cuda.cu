/* Mean cross-entropy and its gradient (ops/cross_entropy.c has the formulas): one block a row; the
 * rows' losses are added by one block in a fixed order. */
#include "ops/cross_entropy.h"
#include "ops/cuda/block_reduce_cuda.cuh"
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, SUM_THREADS = 1024, ITEMS = 5 };

/* The sum of exp(x - max) over numbers seen so far; empty: -inf and 0. exp is the fast one: it is off
 * by less than 2e-7 + 1e-7 |x - max|, and terms far below the maximum weigh little. */
struct ExpSum {
    float max, sum;
};

/* What exponents are taken relative to; also good when everything so far is -inf. A NaN passes
 * through the sum, not through the maximum. */
__device__ __forceinline__ float exp_origin(float max)
{
    return max == -INFINITY ? 0.0F : max;
}

template <int N> __device__ __forceinline__ void add_exps(ExpSum &a, const float (&x)[N])
{
    float max = a.max;
#pragma unroll
    for (int e = 0; e < N; e++) max = fmaxf(max, x[e]);
    const float zero = exp_origin(max);
    a.sum *= __expf(a.max - zero);
#pragma unroll
    for (int e = 0; e < N; e++) a.sum += __expf(x[e] - zero);
    a.max = max;
}

__device__ __forceinline__ float block_log_sum(ExpSum mine, float *shared)
{
    const float zero = exp_origin(block_max(mine.max, shared));
    return zero + logf(block_sum(mine.sum * __expf(mine.max - zero), shared));
}

/* A row of any width at any address: elements up to the first place where vectors start, vectors, and
 * what is left. */
struct RowParts {
    int64_t vectors_at, rest_at;
};

template <typename T> __device__ __forceinline__ RowParts parts_of(const T *row, int64_t V)
{
    const int64_t gap = (16 - ((uintptr_t)row & 15U)) % 16 / sizeof(T);
    const int64_t at = gap < V ? gap : V;
    return {at, at + (V - at) / vector_width<T> * vector_width<T>};
}

/* Fewer than 16 elements lie outside the vectors: each thread has one at most. V or more: none. */
__device__ __forceinline__ int64_t edge_of(const RowParts &parts)
{
    const int64_t i = threadIdx.x;
    return i < parts.vectors_at ? i : parts.rest_at + i - parts.vectors_at;
}

/* each(x, j) for the elements of a row that belong to this thread: x has element j and those after it,
 * a vector of them or one at an edge. Several vectors are on their way before the first is used. */
template <typename T, typename Each>
__device__ __forceinline__ void for_row(const T *row, int64_t V, const Each &each)
{
    constexpr int W = vector_width<T>;
    const RowParts parts = parts_of(row, V);
    const int64_t step = blockDim.x * W;
    for (int64_t j = parts.vectors_at + threadIdx.x * W; j < parts.rest_at; j += ITEMS * step) {
        Vector<T, W> vector[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (j + k * step < parts.rest_at) load_raw(vector[k], row + j + k * step);
        }
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (j + k * step >= parts.rest_at) continue;
            float v[W];
            widen(v, vector[k]);
            each(v, j + k * step);
        }
    }
    const int64_t edge = edge_of(parts);
    if (edge >= V) return;
    float one[1] = {to_float(row[edge])};
    each(one, edge);
}

template <typename T> __device__ __forceinline__ ExpSum row_exp_sum(const T *x, int64_t V)
{
    ExpSum mine = {-INFINITY, 0};
    for_row(x, V, [&](const auto &v, int64_t) { add_exps(mine, v); });
    return mine;
}

template <typename T>
__global__ void __launch_bounds__(THREADS)
    cross_entropy_kernel(float *each, float *lse, const T *logits, int64_t ld,
                         const int32_t *targets, int64_t rows, int64_t V)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const T *x = logits + row * ld;
        const float target_logit = threadIdx.x == 0 ? to_float(x[targets[row]]) : 0;
        const float l = block_log_sum(row_exp_sum(x, V), shared);
        if (threadIdx.x != 0) continue;
        if (lse) lse[row] = l;
        each[row] = l - target_logit;
    }
}

/* The mean is over `all` rows, of which these are some. */
__global__ void cross_entropy_mean_kernel(float *loss, const float *each, int64_t rows, int64_t all)
{
    __shared__ double shared[SUM_THREADS / 32];
    double sum = 0;
    for (int64_t i = threadIdx.x; i < rows; i += SUM_THREADS) sum += (double)each[i];
    const double total = block_total(sum, shared);
    if (threadIdx.x == 0) *loss = (float)(total / (double)all);
}

struct GradArgs {
    Operand dlogits, logits; /* may be the same memory */
    Operand dloss;           /* one element */
    const int32_t *targets;
    const float *lse;
    int64_t rows, V;
    float rows_inverse;
};

/* The loss scale is float64. */
__device__ __forceinline__ float grad_factor(const GradArgs &f)
{
    const bool wide = f.dloss.dtype == DT_F64;
    return (wide ? (float)*static_cast<const double *>(f.dloss.data) : f.dloss.get(0)) *
           f.rows_inverse;
}

/* dlogits of elements j, j + 1, ... of a row. */
template <int N>
__device__ __forceinline__ void row_gradient(float (&x)[N], int64_t j, int64_t target, float lse,
                                             float factor)
{
    const int hit = target >= j && target < j + N ? (int)(target - j) : N;
#pragma unroll
    for (int e = 0; e < N; e++) {
        x[e] = factor * (__expf(x[e] - lse) - (e == hit ? 1.0F : 0.0F));
    }
}

/* dx may be x; both start at the same distance from a place where vectors start. */
template <typename T>
__device__ __forceinline__ void store_row_gradient(T *dx, const T *x, int64_t V, int64_t target,
                                                   float lse, float factor)
{
    for_row(x, V, [&](auto &v, int64_t j) {
        row_gradient(v, j, target, lse, factor);
        if constexpr (sizeof v == sizeof(float)) {
            dx[j] = from_float<T>(v[0]);
        } else {
            store_vector(dx + j, v);
        }
    });
}

template <typename T>
__global__ void __launch_bounds__(THREADS) cross_entropy_grad_kernel(const GradArgs f)
{
    const float factor = grad_factor(f);
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        store_row_gradient(static_cast<T *>(f.dlogits.data) + row * f.dlogits.ld,
                           static_cast<const T *>(f.logits.data) + row * f.logits.ld, f.V,
                           f.targets[row], f.lse[row], factor);
    }
}

/* For dlogits that differ from the logits in dtype or alignment. */
__global__ void cross_entropy_grad_plain_kernel(const GradArgs f)
{
    const float factor = grad_factor(f);
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        for (int64_t j = threadIdx.x; j < f.V; j += blockDim.x) {
            float x[1] = {f.logits.get(row * f.logits.ld + j)};
            row_gradient(x, j, f.targets[row], f.lse[row], factor);
            f.dlogits.set(row * f.dlogits.ld + j, x[0]);
        }
    }
}

Status cross_entropy_cuda_run(const OpCall *call)
{
    const Tensor *logits = op_in_shape(call, 0);
    const int64_t rows = plan_rows(logits), V = plan_width(logits);
    const int32_t *targets = (const int32_t *)op_in(call, 1);
    float *loss = (float *)op_out(call, 0), *lse = (float *)op_out(call, 1);
    float *each = (float *)call->workspace;
    const unsigned blocks = grid_blocks(rows);
    const int threads = block_threads(V / WIDTH + 1, THREADS);
    const cudaStream_t stream = call->backend->stream;
    DISPATCH_FLOAT(logits->dtype, T,
                   (cross_entropy_kernel<T><<<blocks, threads, 0, stream>>>(
                       each, lse, (const T *)op_in(call, 0), logits->ld, targets, rows, V)));
    TRY(LAUNCH_STATUS());
    cross_entropy_mean_kernel<<<1, SUM_THREADS, 0, stream>>>(loss, each, rows,
                                                             cross_entropy_mean_rows(call, logits));
    return LAUNCH_STATUS();
}

static GradArgs grad_args(const OpCall *call)
{
    const Tensor *logits = op_in_shape(call, 1);
    GradArgs f = {};
    f.dlogits = operand_out(call, 0);
    f.dloss = operand_in(call, 0);
    f.logits = operand_in(call, 1);
    f.targets = (const int32_t *)op_in(call, 2);
    f.lse = (const float *)op_in(call, 3);
    f.rows = plan_rows(logits);
    f.V = plan_width(logits);
    f.rows_inverse = (float)(1.0 / (double)cross_entropy_mean_rows(call, logits));
    return f;
}

Status cross_entropy_grad_cuda_run(const OpCall *call)
{
    const GradArgs f = grad_args(call);
    const unsigned blocks = grid_blocks(f.rows);
    const int threads = block_threads(f.V / WIDTH + 1, THREADS);
    const cudaStream_t stream = call->backend->stream;
    const uintptr_t to = (uintptr_t)f.dlogits.data, from = (uintptr_t)f.logits.data;
    const bool alike = f.dlogits.dtype == f.logits.dtype && f.dlogits.ld == f.logits.ld;
    if (alike && to % 16 == from % 16) {
        DISPATCH_FLOAT(f.logits.dtype, T,
                       (cross_entropy_grad_kernel<T><<<blocks, threads, 0, stream>>>(f)));
    } else {
        cross_entropy_grad_plain_kernel<<<blocks, THREADS, 0, stream>>>(f);
    }
    return LAUNCH_STATUS();
}
