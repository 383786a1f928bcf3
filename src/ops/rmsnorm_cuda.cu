/* RMSNorm with the residual addition before it, and its gradient (ops/rmsnorm.c has the formulas).
 *
 * The weight's gradient is a sum over rows: every block sums the rows it meets into one row of the
 * workspace, and a second kernel adds those rows in their order, so that results do not vary. */
#include "ops/any_cuda.cuh"
#include "ops/impls_cuda.h"

enum { THREADS = 256, MOST_PARTIALS = 512 };

struct Forward {
    Any y, delta;
    float *r, *s; /* s is NULL without delta */
    const float *x, *w;
    int64_t rows, C;
    float eps;
};

__global__ void rmsnorm_plain_kernel(const Forward f)
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

struct Backward {
    Any ddelta, dy;
    float *dx, *partial; /* dx may be ds */
    const float *s, *w, *r, *ds;
    int64_t rows, C;
};

/* Threads own columns, so that nobody else touches their part of the block's partial row. */
__global__ void rmsnorm_grad_plain_kernel(const Backward f)
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

static Status run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    const Forward f = {any_out(call, 0),
                       any_in(call, 2),
                       (float *)op_out(call, 1),
                       (float *)op_out(call, 2),
                       (const float *)op_in(call, 0),
                       (const float *)op_in(call, 1),
                       plan_rows(x),
                       plan_width(x),
                       (float)call->node->attr.shift};
    const cudaStream_t stream = call->backend->stream;
    rmsnorm_plain_kernel<<<any_grid(f.rows), any_threads(f.C, THREADS), 0, stream>>>(f);
    TRY_LAUNCH();
    return ST_OK;
}

static int64_t most_partials(int64_t rows)
{
    const int64_t most = MOST_PARTIALS;
    return rows < most ? rows : most;
}

static size_t grad_workspace(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const Tensor *s = plan_in(plan, node, 1);
    return (size_t)(most_partials(plan_rows(s)) * plan_width(s)) * sizeof(float);
}

static Status run_grad(const OpCall *call)
{
    const Tensor *s = op_in_shape(call, 1);
    const Backward f = {any_out(call, 1),
                        any_in(call, 0),
                        (float *)op_out(call, 0),
                        (float *)call->workspace,
                        (const float *)op_in(call, 1),
                        (const float *)op_in(call, 2),
                        (const float *)op_in(call, 3),
                        (const float *)op_in(call, 4),
                        plan_rows(s),
                        plan_width(s)};
    const cudaStream_t stream = call->backend->stream;
    const int blocks = (int)most_partials(f.rows);
    rmsnorm_grad_plain_kernel<<<blocks, any_threads(f.C, THREADS), 0, stream>>>(f);
    TRY_LAUNCH();
    rmsnorm_weight_grad_kernel<<<any_grid(blocks_for(f.C, 32)), dim3(32, 32), 0, stream>>>(
        (float *)op_out(call, 2), f.partial, blocks, f.C);
    TRY_LAUNCH();
    return ST_OK;
}

const OpImpl rmsnorm_cuda[] = {{"rmsnorm_cuda", impls_cuda_declines_f64, nullptr, run}, {}};
const OpImpl rmsnorm_grad_cuda[] = {
    {"rmsnorm_grad_cuda", impls_cuda_declines_f64, grad_workspace, run_grad}, {}};
