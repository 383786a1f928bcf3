/* Softmax over attention scores and its gradient (ops/softmax.c has the formulas). A causal row ends
 * at its own token: what lies beyond is never read and becomes 0. */
#include "ops/any_cuda.cuh"
#include "ops/impls_cuda.h"

enum { THREADS = 256 };

struct Scores {
    Any out, s, p; /* forward: out = softmax(s); backward: s is dp */
    int64_t rows, T;
    float scale;
    bool causal;
};

/* Columns of the row that count. */
__device__ __forceinline__ int64_t columns(const Scores &f, int64_t row)
{
    return f.causal ? row % f.T + 1 : f.T;
}

__global__ void softmax_plain_kernel(const Scores f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.T, n = columns(f, row);
        float max = -INFINITY, sum = 0;
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
            max = fmaxf(max, f.scale * f.s.get(at + j));
        }
        max = block_max(max, shared);
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
            sum += __expf(f.scale * f.s.get(at + j) - max);
        }
        const float factor = 1.0F / block_sum(sum, shared);
        for (int64_t j = threadIdx.x; j < f.T; j += blockDim.x) {
            f.out.set(at + j, j < n ? __expf(f.scale * f.s.get(at + j) - max) * factor : 0.0F);
        }
    }
}

__global__ void softmax_grad_plain_kernel(const Scores f)
{
    __shared__ float shared[THREADS / 32];
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t at = row * f.T, n = columns(f, row);
        float dot = 0;
        for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
            dot += f.s.get(at + j) * f.p.get(at + j);
        }
        dot = block_sum(dot, shared);
        for (int64_t j = threadIdx.x; j < f.T; j += blockDim.x) {
            const float d = j < n ? f.scale * f.p.get(at + j) * (f.s.get(at + j) - dot) : 0.0F;
            f.out.set(at + j, d);
        }
    }
}

static Scores scores_of(const OpCall *call)
{
    const Tensor *s = op_in_shape(call, 0);
    Scores f = {};
    f.out = any_out(call, 0);
    f.s = any_in(call, 0);
    f.rows = plan_rows(s);
    f.T = plan_width(s);
    f.scale = (float)call->node->attr.scale;
    f.causal = call->node->attr.causal;
    return f;
}

static Status run(const OpCall *call)
{
    const Scores f = scores_of(call);
    const int threads = any_threads(f.T, THREADS);
    softmax_plain_kernel<<<any_grid(f.rows), threads, 0, call->backend->stream>>>(f);
    TRY_LAUNCH();
    return ST_OK;
}

static Status run_grad(const OpCall *call)
{
    Scores f = scores_of(call);
    f.p = any_in(call, 1);
    const int threads = any_threads(f.T, THREADS);
    softmax_grad_plain_kernel<<<any_grid(f.rows), threads, 0, call->backend->stream>>>(f);
    TRY_LAUNCH();
    return ST_OK;
}

const OpImpl softmax_cuda[] = {{"softmax_cuda", impls_cuda_declines_f64, nullptr, run}, {}};
const OpImpl softmax_grad_cuda[] = {
    {"softmax_grad_cuda", impls_cuda_declines_f64, nullptr, run_grad}, {}};
