/* RMSNorm of every head of q or of k, and its gradient (ops/head_norm.c has the formulas).
 *
 * A head has a part of a warp: `lanes` threads, a power of two. Heads are numbered row by row; rows may be ld
 * apart, as in a window into a fused q, k and v. */
#include "ops/cuda/norm_rows_cuda.cuh"

/* Threads of a block forward, and backward; the fast kernels' threads have 1 or up to 4 vectors of a head. */
enum { FORWARD_THREADS = 256, BACKWARD_THREADS = 512, MOST_VECTORS = 4 };

struct HeadArgs {
    Operand y, x, dy, dx; /* gradients only backward, y only forward */
    float *r_out, *partial;
    const float *w, *r;
    int64_t rows, H, D;
    float eps;
    int lanes;
};

/* The heads that `lanes` threads go through, one of as many as the grid has at a time: found
 * without a division in the loop. All threads of a block make the same number of steps; a row past
 * the last has no head. */
struct HeadWalk {
    int64_t row;
    int head, row_step, head_step, steps;

    __device__ __forceinline__ explicit HeadWalk(const HeadArgs &f)
    {
        const int heads = blockDim.x / f.lanes, every = gridDim.x * heads;
        const int64_t start = (int64_t)blockIdx.x * heads, first = start + threadIdx.x / f.lanes;
        row = first / f.H;
        head = (int)(first % f.H);
        row_step = every / (int)f.H;
        head_step = every % (int)f.H;
        steps = (int)((f.rows * f.H - start + every - 1) / every);
    }

    __device__ __forceinline__ void next(const HeadArgs &f)
    {
        row += row_step;
        head += head_step;
        if (head < (int)f.H) return;
        head -= (int)f.H;
        row++;
    }

    __device__ __forceinline__ int64_t place(const Operand &x, int D) const
    {
        return row * x.ld + head * D;
    }
};

/* The sum over the threads of a head; every thread of the warp takes part. */
__device__ __forceinline__ float head_sum(float x, int lanes)
{
    for (int i = lanes / 2; i > 0; i >>= 1) x += __shfl_xor_sync(0xffffffffU, x, i);
    return x;
}

template <int N> __device__ __forceinline__ void load_weights(float (&w)[N], const float *src)
{
#pragma unroll
    for (int q = 0; q < N; q += QUAD) {
        float quad[QUAD];
        load_vector(quad, src + q);
#pragma unroll
        for (int e = 0; e < QUAD; e++) w[q + e] = quad[e];
    }
}

/* A thread has VECTORS vectors of a head, `lanes` vectors apart, and keeps those columns. */
template <typename A, int VECTORS>
__global__ void __launch_bounds__(FORWARD_THREADS, VECTORS == 1 ? 4 : 2)
    head_norm_forward_kernel(const HeadArgs f)
{
    wait_for_dependency();
    constexpr int N = vector_width<A>;
    const int D = (int)f.D, lane = threadIdx.x & (f.lanes - 1);
    float w[VECTORS][N];
    int column[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        column[k] = (lane + k * f.lanes) * N;
        if (column[k] < D) load_weights(w[k], f.w + column[k]);
    }
    HeadWalk at(f);
    for (int i = 0; i < at.steps; i++, at.next(f)) {
        const int end = at.row < f.rows ? D : 0;
        const A *x = static_cast<const A *>(f.x.data) + at.place(f.x, D);
        A *y = static_cast<A *>(f.y.data) + at.place(f.y, D);
        float v[VECTORS][N], sum = 0;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (column[k] < end) load_vector(v[k], x + column[k]);
        }
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (column[k] >= end) continue;
#pragma unroll
            for (int e = 0; e < N; e++) sum += v[k][e] * v[k][e];
        }
        const float r = rsqrtf(head_sum(sum, f.lanes) / (float)D + f.eps);
        if (end && lane == 0) f.r_out[at.row * f.H + at.head] = r;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (column[k] >= end) continue;
#pragma unroll
            for (int e = 0; e < N; e++) v[k][e] = v[k][e] * r * w[k][e];
            store_vector(y + column[k], v[k]);
        }
    }
}

/* The sum of a head's g x, of which the thread has a vector. */
template <typename A, int N>
__device__ __forceinline__ float dot_held(const Vector<A, N> &held_dy, const Vector<A, N> &held_x,
                                          const float (&w)[N])
{
    float dot = 0, dy[N], x[N];
    widen(dy, held_dy);
    widen(x, held_x);
#pragma unroll
    for (int e = 0; e < N; e++) dot += dy[e] * w[e] * x[e];
    return dot;
}

template <typename A, int N>
__device__ __forceinline__ void store_held(A *dst, const Vector<A, N> &held_dy,
                                           const Vector<A, N> &held_x, const float (&w)[N], float r,
                                           float k, float (&dw)[N])
{
    float dx[N], dy[N], x[N];
    widen(dy, held_dy);
    widen(x, held_x);
#pragma unroll
    for (int e = 0; e < N; e++) {
        dx[e] = dy[e] * w[e] * r - x[e] * k;
        dw[e] += dy[e] * x[e] * r;
    }
    store_vector(dst, dx);
}

/* Adds up dw over the heads of the block and writes its partial row, the columns of one vector of
 * each thread at a time. */
template <int VECTORS, int N>
__device__ __forceinline__ void store_partial(const HeadArgs &f, const float (&dw)[VECTORS][N])
{
    __shared__ __align__(16) float sums[BACKWARD_THREADS * N];
    const int columns = f.lanes * N, heads = blockDim.x / f.lanes;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        if (k > 0) __syncthreads();
#pragma unroll
        for (int e = 0; e < N; e++) sums[threadIdx.x * N + e] = dw[k][e];
        __syncthreads();
        const int column = k * columns + (int)threadIdx.x;
        if ((int)threadIdx.x >= columns || column >= f.D) continue;
        float sum = 0;
        for (int head = 0; head < heads; head++) sum += sums[head * columns + threadIdx.x];
        f.partial[blockIdx.x * f.D + column] = sum;
    }
}

template <typename A, int VECTORS>
__global__ void __launch_bounds__(BACKWARD_THREADS, VECTORS == 1 ? 2 : 1)
    head_norm_backward_kernel(const HeadArgs f)
{
    wait_for_dependency();
    constexpr int N = vector_width<A>;
    const int D = (int)f.D, lane = threadIdx.x & (f.lanes - 1);
    float w[VECTORS][N], dw[VECTORS][N] = {};
    int column[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        column[k] = (lane + k * f.lanes) * N;
        if (column[k] < D) load_weights(w[k], f.w + column[k]);
    }
    HeadWalk at(f);
    for (int i = 0; i < at.steps; i++, at.next(f)) {
        const int end = at.row < f.rows ? D : 0;
        const A *dy = static_cast<const A *>(f.dy.data) + at.place(f.dy, D);
        const A *x = static_cast<const A *>(f.x.data) + at.place(f.x, D);
        A *dx = static_cast<A *>(f.dx.data) + at.place(f.dx, D);
        Vector<A, N> held_dy[VECTORS], held_x[VECTORS];
        const float r = end ? f.r[at.row * f.H + at.head] : 0;
        float dot = 0;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (column[k] >= end) continue;
            load_raw(held_dy[k], dy + column[k]);
            load_raw(held_x[k], x + column[k]);
        }
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (column[k] < end) dot += dot_held(held_dy[k], held_x[k], w[k]);
        }
        const float scale = head_sum(dot, f.lanes) / (float)D * r * r * r;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (column[k] < end)
                store_held(dx + column[k], held_dy[k], held_x[k], w[k], r, scale, dw[k]);
        }
    }
    store_partial<VECTORS, N>(f, dw);
}

/* ---- any width, alignment and mixture of dtypes: a block has a head at a time ---- */

__global__ void head_norm_plain_kernel(const HeadArgs f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t head = blockIdx.x; head < f.rows * f.H; head += gridDim.x) {
        const int64_t x = head / f.H * f.x.ld + head % f.H * f.D;
        const int64_t y = head / f.H * f.y.ld + head % f.H * f.D;
        float sum = 0;
        for (int64_t j = threadIdx.x; j < f.D; j += blockDim.x) {
            const float v = f.x.get(x + j);
            sum += v * v;
        }
        const float r = rsqrtf(block_sum(sum, shared) / (float)f.D + f.eps);
        if (threadIdx.x == 0) f.r_out[head] = r;
        for (int64_t j = threadIdx.x; j < f.D; j += blockDim.x) {
            f.y.set(y + j, f.x.get(x + j) * r * f.w[j]);
        }
    }
}

/* Threads own columns, so that nobody else touches their part of the block's partial row. */
__global__ void head_norm_grad_plain_kernel(const HeadArgs f)
{
    __shared__ float shared[THREADS / 32];
    float *dw = f.partial + blockIdx.x * f.D;
    for (int64_t j = threadIdx.x; j < f.D; j += blockDim.x) dw[j] = 0;
    for (int64_t head = blockIdx.x; head < f.rows * f.H; head += gridDim.x) {
        const int64_t row = head / f.H, first = head % f.H * f.D;
        const int64_t at_dy = row * f.dy.ld + first, at_x = row * f.x.ld + first;
        const int64_t at_dx = row * f.dx.ld + first;
        float dot = 0;
        for (int64_t j = threadIdx.x; j < f.D; j += blockDim.x) {
            dot += f.dy.get(at_dy + j) * f.w[j] * f.x.get(at_x + j);
        }
        const float r = f.r[head], k = block_sum(dot, shared) / (float)f.D * r * r * r;
        for (int64_t j = threadIdx.x; j < f.D; j += blockDim.x) {
            const float dy = f.dy.get(at_dy + j), x = f.x.get(at_x + j);
            f.dx.set(at_dx + j, dy * f.w[j] * r - x * k);
            dw[j] += dy * x * r;
        }
    }
}

/* ---- host side ---- */

/* Threads of a head with vectors of `width` elements: a power of two, a warp at most. */
static int lanes_of(int64_t D, int width)
{
    int lanes = 1;
    while (lanes < 32 && lanes * width < D) lanes *= 2;
    return lanes;
}

static HeadArgs head_args(const OpCall *call, const Tensor *x, const Tensor *w)
{
    HeadArgs f = {};
    f.H = call->node->attr.heads;
    f.D = plan_elements(w);
    f.rows = plan_rows(x);
    f.eps = (float)call->node->attr.shift;
    f.lanes = lanes_of(f.D, 16 / (int)plan_dtype_size(x->dtype));
    return f;
}

/* Vectors of a head for each of its threads. */
static int64_t vectors_of(const HeadArgs &f, int width)
{
    return blocks_for(f.D, (int64_t)f.lanes * width);
}

template <typename A> static Status forward(const OpCall *call, const HeadArgs &f)
{
    const bool one = vectors_of(f, vector_width<A>) == 1;
    const int heads = FORWARD_THREADS / f.lanes;
    const int blocks =
        even_blocks(blocks_for(f.rows * f.H, heads), call->backend->sms * (one ? 6 : 2));
    const auto kernel =
        one ? head_norm_forward_kernel<A, 1> : head_norm_forward_kernel<A, MOST_VECTORS>;
    return launch_dependent(call->backend, kernel, blocks, FORWARD_THREADS, f);
}

template <typename A> static Status backward(const OpCall *call, const HeadArgs &f, int *partials)
{
    const bool one = vectors_of(f, vector_width<A>) == 1;
    const int heads = BACKWARD_THREADS / f.lanes, room = call->backend->sms * (one ? 2 : 1);
    *partials =
        even_blocks(blocks_for(f.rows * f.H, heads), std::min<int64_t>(room, MOST_PARTIALS));
    const auto kernel =
        one ? head_norm_backward_kernel<A, 1> : head_norm_backward_kernel<A, MOST_VECTORS>;
    return launch_dependent(call->backend, kernel, *partials, BACKWARD_THREADS, f);
}

Status head_norm_cuda_run(const OpCall *call)
{
    HeadArgs f = head_args(call, op_in_shape(call, 0), op_in_shape(call, 1));
    f.y = operand_out(call, 0);
    f.r_out = (float *)op_out(call, 1);
    f.x = operand_in(call, 0);
    f.w = (const float *)op_in(call, 1);
    const int width = 16 / (int)plan_dtype_size(f.x.dtype);
    const bool fit = f.x.dtype == f.y.dtype && vectors_of(f, width) <= MOST_VECTORS;
    if (fit && are_vectorizable(call, 1U, 3U)) {
        DISPATCH_FLOAT(f.x.dtype, A, return forward<A>(call, f));
    }
    head_norm_plain_kernel<<<grid_blocks(f.rows * f.H), block_threads(f.D, THREADS), 0,
                             call->backend->stream>>>(f);
    return LAUNCH_STATUS();
}

Status head_norm_grad_cuda_run(const OpCall *call)
{
    HeadArgs f = head_args(call, op_in_shape(call, 1), op_in_shape(call, 2));
    f.dx = operand_out(call, 0);
    f.partial = (float *)call->workspace;
    f.dy = operand_in(call, 0);
    f.x = operand_in(call, 1);
    f.w = (const float *)op_in(call, 2);
    f.r = (const float *)op_in(call, 3);
    const int width = 16 / (int)plan_dtype_size(f.x.dtype);
    const bool same = f.x.dtype == f.dy.dtype && f.x.dtype == f.dx.dtype;
    int partials = (int)std::min<int64_t>(f.rows * f.H, MOST_PARTIALS);
    if (same && vectors_of(f, width) <= MOST_VECTORS && are_vectorizable(call, 1U, 7U)) {
        DISPATCH_FLOAT(f.x.dtype, A, TRY(backward<A>(call, f, &partials)));
    } else {
        head_norm_grad_plain_kernel<<<partials, block_threads(f.D, THREADS), 0,
                                      call->backend->stream>>>(f);
        TRY(LAUNCH_STATUS());
    }
    return norm_column_sums(call, {(float *)op_out(call, 1), nullptr, f.partial, partials, f.D});
}
