/* The gate of the feed-forward part and its gradient (ops/swiglu.c has the formulas). Packed or not,
 * h1 and h3 are two windows with the same distance between their rows. */
#include "ops/any_cuda.cuh"
#include "ops/impls_cuda.h"

enum { THREADS = 256 };

/* Within 1e-5 of the exact value: exp(-x) is off by less than 6e-8 |x|, and where |x| > 87 the
 * result is 0 or 1 in float anyway. */
__device__ __forceinline__ float sigmoid(float x)
{
    return __fdividef(1.0F, 1.0F + __expf(-x));
}

struct Gate {
    Any g, h1, h3, dh1, dh3; /* backward g is dg; dh1 may be h1, dh3 h3 */
    int64_t rows, F;
};

__global__ void swiglu_plain_kernel(const Gate f)
{
    const int64_t n = f.rows * f.F, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += step) {
        const int64_t row = i / f.F, j = i % f.F;
        const float x = f.h1.get(row * f.h1.ld + j);
        f.g.set(i, x * sigmoid(x) * f.h3.get(row * f.h3.ld + j));
    }
}

__global__ void swiglu_grad_plain_kernel(const Gate f)
{
    const int64_t n = f.rows * f.F, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += step) {
        const int64_t row = i / f.F, j = i % f.F;
        const float x = f.h1.get(row * f.h1.ld + j), v = f.h3.get(row * f.h3.ld + j);
        const float s = sigmoid(x), flow = f.g.get(i) * s;
        f.dh1.set(row * f.dh1.ld + j, flow * v * (1.0F + x * (1.0F - s)));
        f.dh3.set(row * f.dh3.ld + j, flow * x);
    }
}

/* The second operand where there is one, else the right half of the first. */
static Any second_half(Any first, Any second, int64_t F)
{
    if (second.data) return second;
    char *data = static_cast<char *>(first.data) + F * (int64_t)plan_dtype_size(first.dtype);
    return Any{data, first.dtype, first.ld};
}

static Status run(const OpCall *call)
{
    const Tensor *g = op_out_shape(call, 0);
    Gate f = {};
    f.rows = plan_rows(g);
    f.F = plan_width(g);
    f.g = any_out(call, 0);
    f.h1 = any_in(call, 0);
    f.h3 = second_half(f.h1, any_in(call, 1), f.F);
    const unsigned blocks = any_grid(blocks_for(f.rows * f.F, THREADS));
    swiglu_plain_kernel<<<blocks, THREADS, 0, call->backend->stream>>>(f);
    TRY_LAUNCH();
    return ST_OK;
}

static Status run_grad(const OpCall *call)
{
    const Tensor *dg = op_in_shape(call, 0);
    Gate f = {};
    f.rows = plan_rows(dg);
    f.F = plan_width(dg);
    f.g = any_in(call, 0);
    f.h1 = any_in(call, 1);
    f.h3 = second_half(f.h1, any_in(call, 2), f.F);
    f.dh1 = any_out(call, 0);
    f.dh3 = second_half(f.dh1, any_out(call, 1), f.F);
    const unsigned blocks = any_grid(blocks_for(f.rows * f.F, THREADS));
    swiglu_grad_plain_kernel<<<blocks, THREADS, 0, call->backend->stream>>>(f);
    TRY_LAUNCH();
    return ST_OK;
}

const OpImpl swiglu_cuda[] = {{"swiglu_cuda", impls_cuda_declines_f64, nullptr, run}, {}};
const OpImpl swiglu_grad_cuda[] = {{"swiglu_grad_cuda", impls_cuda_declines_f64, nullptr, run_grad},
                                   {}};
