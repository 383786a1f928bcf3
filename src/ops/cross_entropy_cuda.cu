/* Mean cross-entropy and its gradient (ops/cross_entropy.c has the formulas): one block a row; the
 * rows' losses are added by one block in a fixed order. */
#include "ops/any_cuda.cuh"
#include "ops/impls_cuda.h"

enum { THREADS = 256, SUM_THREADS = 1024 };

/* The sum of exp(x - max) over numbers seen so far; empty: -inf and 0. */
struct Powers {
    float max, sum;
};

__device__ __forceinline__ Powers join(Powers a, Powers b)
{
    if (a.max == -INFINITY && b.max == -INFINITY) return a; /* NaN goes on, into the sum */
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * __expf(a.max - max) + b.sum * __expf(b.max - max)};
}

__device__ __forceinline__ float block_log_sum(Powers mine, float *shared)
{
    const float max = block_max(mine.max, shared);
    const float scaled = mine.sum == 0 ? 0 : mine.sum * __expf(mine.max - max);
    return max + logf(block_sum(scaled, shared));
}

__global__ void cross_entropy_plain_kernel(float *each, float *lse, const Any logits,
                                           const int32_t *targets, int64_t rows, int64_t V)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        Powers mine = {-INFINITY, 0};
        for (int64_t j = threadIdx.x; j < V; j += blockDim.x) {
            mine = join(mine, {logits.get(row * V + j), 1});
        }
        const float l = block_log_sum(mine, shared);
        if (threadIdx.x != 0) continue;
        if (lse) lse[row] = l;
        each[row] = l - logits.get(row * V + targets[row]);
    }
}

__global__ void cross_entropy_mean_kernel(float *loss, const float *each, int64_t rows)
{
    __shared__ double sums[SUM_THREADS];
    double sum = 0;
    for (int64_t i = threadIdx.x; i < rows; i += SUM_THREADS) sum += (double)each[i];
    sums[threadIdx.x] = sum;
    for (int half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *loss = (float)(sums[0] / (double)rows);
}

struct Slope {
    Any dlogits, logits;
    const void *dloss; /* one element; the loss scale is float64 */
    DType dloss_dtype;
    const int32_t *targets;
    const float *lse;
    int64_t rows, V;
};

__device__ __forceinline__ float slope_factor(const Slope &f)
{
    if (f.dloss_dtype == DT_F64) {
        return (float)(*static_cast<const double *>(f.dloss) / (double)f.rows);
    }
    const Any dloss = {const_cast<void *>(f.dloss), f.dloss_dtype, 1};
    return dloss.get(0) / (float)f.rows;
}

__global__ void cross_entropy_grad_plain_kernel(const Slope f)
{
    const float factor = slope_factor(f);
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const float l = f.lse[row];
        const int64_t target = f.targets[row];
        for (int64_t j = threadIdx.x; j < f.V; j += blockDim.x) {
            const float p = __expf(f.logits.get(row * f.V + j) - l);
            f.dlogits.set(row * f.V + j, factor * (p - (j == target ? 1.0F : 0.0F)));
        }
    }
}

/* The loss of every row. */
static size_t losses(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    return (size_t)plan_rows(plan_in(plan, node, 0)) * sizeof(float);
}

static Status run(const OpCall *call)
{
    const Any logits = any_in(call, 0);
    const int64_t rows = plan_rows(op_in_shape(call, 0)), V = plan_width(op_in_shape(call, 0));
    float *each = (float *)call->workspace;
    const cudaStream_t stream = call->backend->stream;
    cross_entropy_plain_kernel<<<any_grid(rows), any_threads(V, THREADS), 0, stream>>>(
        each, (float *)op_out(call, 1), logits, (const int32_t *)op_in(call, 1), rows, V);
    TRY_LAUNCH();
    cross_entropy_mean_kernel<<<1, SUM_THREADS, 0, stream>>>((float *)op_out(call, 0), each, rows);
    TRY_LAUNCH();
    return ST_OK;
}

static Status run_grad(const OpCall *call)
{
    const Tensor *logits = op_in_shape(call, 1);
    Slope f = {};
    f.dlogits = any_out(call, 0);
    f.logits = any_in(call, 1);
    f.dloss = op_in(call, 0);
    f.dloss_dtype = op_in_shape(call, 0)->dtype;
    f.targets = (const int32_t *)op_in(call, 2);
    f.lse = (const float *)op_in(call, 3);
    f.rows = plan_rows(logits);
    f.V = plan_width(logits);
    cross_entropy_grad_plain_kernel<<<any_grid(f.rows), any_threads(f.V, THREADS), 0,
                                      call->backend->stream>>>(f);
    TRY_LAUNCH();
    return ST_OK;
}

static bool is_f64(const Tensor *tensor)
{
    return tensor && tensor->dtype == DT_F64;
}

/* dloss alone may be float64. */
static const char *declines_grad(const Plan *plan, const Node *node)
{
    const bool wide = is_f64(plan_out(plan, node, 0)) || is_f64(plan_in(plan, node, 1)) ||
                      is_f64(plan_in(plan, node, 3));
    return wide ? "float64 runs on a CPU only" : NULL;
}

const OpImpl cross_entropy_cuda[] = {{"cross_entropy_cuda", impls_cuda_declines_f64, losses, run},
                                     {}};
const OpImpl cross_entropy_grad_cuda[] = {
    {"cross_entropy_grad_cuda", declines_grad, nullptr, run_grad}, {}};
