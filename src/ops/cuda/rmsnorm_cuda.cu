/* RMSNorm with the residual addition before it, and its gradient (ops/rmsnorm.c has the formulas).
 *
 * The fast kernels hold a row in registers, so that memory is gone over once. The weight's gradient
 * is a sum over rows: every block sums the rows it meets into one row of the workspace, and a second
 * kernel adds those in a fixed order, so that results do not vary. */
#include "ops/cuda/block_reduce_cuda.cuh"
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, MOST_PARTIALS = GPU_SUPPORT_NORM_MOST_PARTIALS };
/* The fast kernels' threads have 2 or 4 quads of a row each. */
enum { QUAD = 4, ROW_THREADS = 512, MOST_COLUMNS = 4 * QUAD * ROW_THREADS };

struct ForwardArgs {
    Operand y, delta;
    float *r, *s; /* s is NULL without delta */
    const float *x, *w;
    int64_t rows, C;
    float eps;
};

__device__ __forceinline__ void add_quad(float (&sum)[QUAD], const float (&x)[QUAD])
{
#pragma unroll
    for (int e = 0; e < QUAD; e++) sum[e] += x[e];
}

__device__ __forceinline__ float squares(const float (&v)[QUAD])
{
    float sum = 0;
#pragma unroll
    for (int e = 0; e < QUAD; e++) sum += v[e] * v[e];
    return sum;
}

template <typename A>
__device__ __forceinline__ void store_normed(const ForwardArgs &f, int64_t at,
                                             const float (&v)[QUAD], float r,
                                             const float (&w)[QUAD])
{
    float y[QUAD];
#pragma unroll
    for (int e = 0; e < QUAD; e++) y[e] = v[e] * r * w[e];
    store_vector(static_cast<A *>(f.y.data) + at, y);
}

/* One row a block at a time; a thread has QUADS quads of it, a block's width apart. */
template <typename A, int QUADS>
__global__ void __launch_bounds__(ROW_THREADS, QUADS == 2 ? 2 : 1)
    rmsnorm_forward_kernel(const ForwardArgs f)
{
    wait_for_dependency();
    __shared__ float shared[ROW_THREADS / 32];
    float w[QUADS][QUAD], v[QUADS][QUAD], delta[QUADS][QUAD];
    int column[QUADS];
    const int C = (int)f.C;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        column[k] = (int)(threadIdx.x + k * blockDim.x) * QUAD;
        if (column[k] < C) load_vector(w[k], f.w + column[k]);
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
            sum += squares(v[k]);
        }
        const float r = rsqrtf(block_sum(sum, shared) / (float)C + f.eps);
        if (threadIdx.x == 0) f.r[row] = r;
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] < C) store_normed<A>(f, at + column[k], v[k], r, w[k]);
        }
    }
}

__global__ void rmsnorm_plain_kernel(const ForwardArgs f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.C;
        float sum = 0;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            float v = f.x[at + j];
            if (f.s) f.s[at + j] = v += f.delta.get(at + j);
            sum += v * v;
        }
        const float r = rsqrtf(block_sum(sum, shared) / (float)f.C + f.eps);
        if (threadIdx.x == 0) f.r[row] = r;
        const float *v = f.s ? f.s : f.x;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            f.y.set(at + j, v[at + j] * r * f.w[j]);
        }
    }
}

struct BackwardArgs {
    Operand ddelta, dy;
    float *dx, *partial; /* dx may be ds */
    const float *s, *w, *r, *ds;
    int64_t rows, C;
};

/* What a thread holds of a row, a quad of each operand; dy as it was read takes fewer registers. */
template <typename A> struct RowVector {
    Vector<A, QUAD> dy;
    float s[QUAD], ds[QUAD];
};

template <typename A>
__device__ __forceinline__ void load_held(RowVector<A> &a, const BackwardArgs &f, int64_t at)
{
    load_raw(a.dy, static_cast<const A *>(f.dy.data) + at);
    load_vector(a.s, f.s + at);
    if (f.ds) load_vector(a.ds, f.ds + at);
}

template <typename A>
__device__ __forceinline__ float dot_held(const RowVector<A> &a, const float (&w)[QUAD])
{
    float dot = 0, dy[QUAD];
    widen(dy, a.dy);
#pragma unroll
    for (int e = 0; e < QUAD; e++) dot += dy[e] * w[e] * a.s[e];
    return dot;
}

template <typename A>
__device__ __forceinline__ void store_held(const BackwardArgs &f, int64_t at, const RowVector<A> &a,
                                           float r, float k, const float (&w)[QUAD],
                                           float (&dw)[QUAD])
{
    float dx[QUAD], dy[QUAD];
    widen(dy, a.dy);
#pragma unroll
    for (int e = 0; e < QUAD; e++) {
        dx[e] = (f.ds ? a.ds[e] : 0.0F) + dy[e] * w[e] * r - a.s[e] * k;
        dw[e] += dy[e] * a.s[e] * r;
    }
    store_vector(f.dx + at, dx);
    if (f.ddelta.data) store_vector(static_cast<A *>(f.ddelta.data) + at, dx);
}

/* The sum over the threads of one row of the block, which are whole warps. One barrier: `shared` has
 * two halves, used in turn, so that the next sum never overwrites one that is still being read. */
__device__ __forceinline__ float row_sum(float x, float (*shared)[ROW_THREADS / 32], int turn)
{
    const int warps = blockDim.x / 32, first = threadIdx.y * warps;
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0) shared[turn][first + threadIdx.x / 32] = x;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < warps; i++) sum += shared[turn][first + i];
    return sum;
}

/* Adds up dw over the rows of threads, of which the first needs no shared memory, and writes the
 * block's partial row. */
template <int QUADS>
__device__ __forceinline__ void store_partial(const BackwardArgs &f, float (&dw)[QUADS][QUAD])
{
    __shared__ Vector<float, QUAD> sums[(ROW_THREADS - 32) * QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const int mine = k * blockDim.x + threadIdx.x, row = QUADS * blockDim.x;
        if (threadIdx.y > 0) store_vector(sums[(threadIdx.y - 1) * row + mine].v, dw[k]);
    }
    __syncthreads();
    if (threadIdx.y > 0) return;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const int mine = k * blockDim.x + threadIdx.x, row = QUADS * blockDim.x;
        for (int y = 0; y < (int)blockDim.y - 1; y++) add_quad(dw[k], sums[y * row + mine].v);
        const int64_t column = (int64_t)mine * QUAD;
        if (column < f.C) store_vector(f.partial + blockIdx.x * f.C + column, dw[k]);
    }
}

/* blockDim.y rows a block at a time, blockDim.x threads each; threads keep their columns, and so the
 * sums of dw stay in registers until the last row. */
template <typename A, int QUADS>
__global__ void __launch_bounds__(ROW_THREADS, QUADS == 2 ? 2 : 1)
    rmsnorm_backward_kernel(const BackwardArgs f)
{
    wait_for_dependency();
    __shared__ float shared[2][ROW_THREADS / 32];
    float w[QUADS][QUAD], dw[QUADS][QUAD] = {};
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
        const float r = end ? f.r[row] : 0;
        RowVector<A> held[QUADS];
        float dot = 0;
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] < end) load_held<A>(held[k], f, at + column[k]);
        }
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] < end) dot += dot_held(held[k], w[k]);
        }
        const float scale = row_sum(dot, shared, turn) / (float)C * r * r * r;
        turn ^= 1;
#pragma unroll
        for (int k = 0; k < QUADS; k++) {
            if (column[k] < end) store_held<A>(f, at + column[k], held[k], r, scale, w[k], dw[k]);
        }
    }
    store_partial<QUADS>(f, dw);
}

/* Threads own columns, so that nobody else touches their part of the block's partial row. */
__global__ void rmsnorm_grad_plain_kernel(const BackwardArgs f)
{
    __shared__ float shared[THREADS / 32];
    float *dw = f.partial + blockIdx.x * f.C;
    for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) dw[j] = 0;
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.C;
        float dot = 0;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            dot += f.dy.get(at + j) * f.w[j] * f.s[at + j];
        }
        const float r = f.r[row], k = block_sum(dot, shared) / (float)f.C * r * r * r;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            const float dy = f.dy.get(at + j), s = f.s[at + j];
            const float d = (f.ds ? f.ds[at + j] : 0.0F) + dy * f.w[j] * r - s * k;
            f.dx[at + j] = d;
            if (f.ddelta.data) f.ddelta.set(at + j, d);
            dw[j] += dy * s * r;
        }
    }
}

/* 32 columns a block; 32 threads of each column add every 32nd row, then one adds theirs. */
__global__ void rmsnorm_weight_grad_kernel(float *dw, const float *partial, int partials, int64_t C)
{
    wait_for_dependency();
    __shared__ float sums[32][33];
    const int64_t column = blockIdx.x * (int64_t)32 + threadIdx.x;
    float sum = 0;
    if (column < C) {
        for (int i = threadIdx.y; i < partials; i += 32) sum += partial[i * C + column];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    const float whole = warp_sum(sums[threadIdx.x][threadIdx.y]);
    const int64_t mine = blockIdx.x * (int64_t)32 + threadIdx.y;
    if (threadIdx.x == 0 && mine < C) dw[mine] = whole;
}

/* Threads of a fast kernel that share a row: two quads each, or four in long rows. */
static int row_threads(int64_t C)
{
    const int64_t pairs = blocks_for(C, 2 * QUAD);
    return block_threads(pairs > ROW_THREADS ? blocks_for(pairs, 2) : pairs, ROW_THREADS);
}

template <typename A> static Status forward(const OpCall *call, const ForwardArgs &f)
{
    const int threads = row_threads(f.C);
    const bool two = f.C <= 2 * QUAD * threads;
    const int blocks = even_blocks(f.rows, call->backend->sms * ((two ? 1024 : 640) / threads));
    const auto kernel = two ? rmsnorm_forward_kernel<A, 2> : rmsnorm_forward_kernel<A, 4>;
    return launch_dependent(call->backend, kernel, blocks, threads, f);
}

/* The operand has the dtype of the activations, or is absent. */
static bool has_dtype(const Tensor *t, DType act)
{
    return !t || t->dtype == act;
}

static bool forward_takes_vectors(const OpCall *call)
{
    const Tensor *y = op_out_shape(call, 0);
    bool fit = plan_width(y) <= MOST_COLUMNS && has_dtype(op_in_shape(call, 2), y->dtype);
    for (int i = 0; i < 3; i++) fit = fit && is_vectorizable(op_in(call, i), op_in_shape(call, i));
    return fit && is_vectorizable(op_out(call, 0), y) &&
           is_vectorizable(op_out(call, 2), op_out_shape(call, 2));
}

Status rmsnorm_cuda_run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    ForwardArgs f = {};
    f.y = operand_out(call, 0);
    f.r = (float *)op_out(call, 1);
    f.s = (float *)op_out(call, 2);
    f.x = (const float *)op_in(call, 0);
    f.w = (const float *)op_in(call, 1);
    f.delta = operand_in(call, 2);
    f.rows = plan_rows(x);
    f.C = plan_width(x);
    f.eps = (float)call->node->attr.shift;
    if (forward_takes_vectors(call)) {
        DISPATCH_FLOAT(f.y.dtype, A, return forward<A>(call, f));
    }
    rmsnorm_plain_kernel<<<grid_blocks(f.rows), block_threads(f.C, THREADS), 0,
                           call->backend->stream>>>(f);
    return LAUNCH_STATUS();
}

template <typename A>
static Status backward(const OpCall *call, const BackwardArgs &f, int *partials)
{
    const int threads = row_threads(f.C), rows = ROW_THREADS / threads;
    const bool two = f.C <= 2 * QUAD * threads;
    const int room = call->backend->sms * ((two ? 1024 : 512) / (threads * rows));
    const int blocks =
        even_blocks(blocks_for(f.rows, rows), (int)std::min<int64_t>(room, MOST_PARTIALS));
    *partials = blocks;
    const auto kernel = two ? rmsnorm_backward_kernel<A, 2> : rmsnorm_backward_kernel<A, 4>;
    return launch_dependent(call->backend, kernel, blocks, dim3(threads, rows), f);
}

static Status backward_plain(const OpCall *call, const BackwardArgs &f, int *partials)
{
    *partials = (int)std::min<int64_t>(f.rows, MOST_PARTIALS);
    rmsnorm_grad_plain_kernel<<<*partials, block_threads(f.C, THREADS), 0, call->backend->stream>>>(
        f);
    return LAUNCH_STATUS();
}

static bool backward_takes_vectors(const OpCall *call)
{
    const Tensor *dy = op_in_shape(call, 0);
    bool fit = plan_width(dy) <= MOST_COLUMNS && has_dtype(op_out_shape(call, 1), dy->dtype);
    for (int i = 0; i < 2; i++)
        fit = fit && is_vectorizable(op_out(call, i), op_out_shape(call, i));
    for (int i = 0; i < 3; i++) fit = fit && is_vectorizable(op_in(call, i), op_in_shape(call, i));
    return fit && is_vectorizable(op_in(call, 4), op_in_shape(call, 4));
}

Status rmsnorm_grad_cuda_run(const OpCall *call)
{
    const Tensor *s = op_in_shape(call, 1);
    BackwardArgs f = {};
    f.dx = (float *)op_out(call, 0);
    f.ddelta = operand_out(call, 1);
    f.partial = (float *)call->workspace;
    f.dy = operand_in(call, 0);
    f.s = (const float *)op_in(call, 1);
    f.w = (const float *)op_in(call, 2);
    f.r = (const float *)op_in(call, 3);
    f.ds = (const float *)op_in(call, 4);
    f.rows = plan_rows(s);
    f.C = plan_width(s);
    int partials = 0;
    if (backward_takes_vectors(call)) {
        DISPATCH_FLOAT(f.dy.dtype, A, TRY(backward<A>(call, f, &partials)));
    } else {
        TRY(backward_plain(call, f, &partials));
    }
    const unsigned blocks = grid_blocks(blocks_for(f.C, 32));
    return launch_dependent(call->backend, rmsnorm_weight_grad_kernel, blocks, dim3(32, 32),
                            (float *)op_out(call, 2), f.partial, partials, f.C);
}
