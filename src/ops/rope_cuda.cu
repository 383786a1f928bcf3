/* Rotary position embedding (ops/rope.c has the formulas), in place where y is x: the columns that
 * do not turn are then left alone. */
#include "ops/any_cuda.cuh"
#include "ops/impls_cuda.h"

enum { THREADS = 256 };

struct Turn {
    Any y, x;
    Any cos, sin;           /* [T, D/2] */
    Any cos_full, sin_full; /* [T, W] or absent */
    int64_t rows, W, T;
    int64_t turned, half; /* columns that turn; pairs of a head */
    bool inverse;
};

/* The matrix of a pair as ops/rope.c defines it: with the full tables each column has a factor of
 * its own. */
__device__ __forceinline__ void turn_pair(const Turn &f, int64_t row, int64_t j)
{
    const int64_t t = row % f.T, at = row * f.W + j;
    const bool full = f.cos_full.data;
    const int64_t i = t * f.half + j / 2 % f.half, k = t * f.W + j;
    const float c0 = full ? f.cos_full.get(k) : f.cos.get(i);
    const float c1 = full ? f.cos_full.get(k + 1) : c0;
    const float s0 = full ? f.sin_full.get(k) : f.sin.get(i);
    const float s1 = full ? f.sin_full.get(k + 1) : s0;
    const float x0 = f.x.get(at), x1 = f.x.get(at + 1);
    f.y.set(at, c0 * x0 + (f.inverse ? s1 : -s0) * x1);
    f.y.set(at + 1, (f.inverse ? -s0 : s1) * x0 + c1 * x1);
}

__global__ void rope_plain_kernel(const Turn f)
{
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        for (int64_t j = 2 * threadIdx.x; j < f.turned; j += 2 * blockDim.x) turn_pair(f, row, j);
        if (f.y.data == f.x.data) continue;
        for (int64_t j = f.turned + threadIdx.x; j < f.W; j += blockDim.x) {
            f.y.set(row * f.W + j, f.x.get(row * f.W + j));
        }
    }
}

static Status run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    Turn f = {};
    f.y = any_out(call, 0);
    f.x = any_in(call, 0);
    f.cos = any_in(call, 1);
    f.sin = any_in(call, 2);
    f.cos_full = any_in(call, 3);
    f.sin_full = any_in(call, 4);
    f.rows = plan_rows(x);
    f.W = plan_width(x);
    f.T = call->node->attr.tokens;
    f.half = plan_width(op_in_shape(call, 1));
    f.turned = call->node->attr.heads * 2 * f.half;
    f.inverse = call->node->attr.inverse;
    const int threads = any_threads(f.W / 2 + 1, THREADS);
    rope_plain_kernel<<<any_grid(f.rows), threads, 0, call->backend->stream>>>(f);
    TRY_LAUNCH();
    return ST_OK;
}

/* With equal pointers nothing is copied, which is right for equal dtypes only. */
static const char *declines(const Plan *plan, const Node *node)
{
    if (plan_in(plan, node, 0)->dtype != plan_out(plan, node, 0)->dtype) {
        return "x and y differ in dtype";
    }
    return impls_cuda_declines_f64(plan, node);
}

const OpImpl rope_cuda[] = {{"rope_cuda", declines, nullptr, run}, {}};
