/* The gate of the feed-forward part and its gradient (ops/swiglu.c has the formulas). Packed or not,
 * h1 and h3 are two windows with the same distance between their rows. */
#include "ops/cuda/launch_cuda.cuh"
#include "ops/cuda/swiglu_math_cuda.cuh"
#include "plan/op_functions.h"

enum { THREADS = 256 };

struct SwigluArgs {
    Operand g, h1, h3, dh1, dh3; /* backward g is dg; dh1 may be h1, dh3 h3 */
    Operand again;               /* backward: where g goes, if anywhere; may be dg */
    int64_t rows, F;
};

/* One vector a thread, of each operand. */
template <typename A>
__global__ void __launch_bounds__(THREADS) swiglu_forward_kernel(const SwigluArgs f)
{
    wait_for_dependency();
    constexpr int W = vector_width<A>;
    const int64_t j = (int64_t)(blockIdx.y * blockDim.x + threadIdx.x) * W;
    if (j >= f.F) return;
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        float x[W], v[W];
        load_vector(x, static_cast<const A *>(f.h1.data) + row * f.h1.ld + j);
        load_vector(v, static_cast<const A *>(f.h3.data) + row * f.h3.ld + j);
#pragma unroll
        for (int e = 0; e < W; e++) v[e] = swiglu_gate(x[e], v[e]);
        store_vector(static_cast<A *>(f.g.data) + row * f.F + j, v);
    }
}

template <typename A>
__global__ void __launch_bounds__(THREADS) swiglu_backward_kernel(const SwigluArgs f)
{
    wait_for_dependency();
    constexpr int W = vector_width<A>;
    const int64_t j = (int64_t)(blockIdx.y * blockDim.x + threadIdx.x) * W;
    if (j >= f.F) return;
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        float x[W], v[W], g[W];
        load_vector(x, static_cast<const A *>(f.h1.data) + row * f.h1.ld + j);
        load_vector(v, static_cast<const A *>(f.h3.data) + row * f.h3.ld + j);
        load_vector(g, static_cast<const A *>(f.g.data) + row * f.F + j);
#pragma unroll
        for (int e = 0; e < W; e++) swiglu_gradient(x[e], v[e], g[e]);
        store_vector(static_cast<A *>(f.dh1.data) + row * f.dh1.ld + j, x);
        store_vector(static_cast<A *>(f.dh3.data) + row * f.dh3.ld + j, v);
        if (f.again.data) store_vector(static_cast<A *>(f.again.data) + row * f.F + j, g);
    }
}

__global__ void swiglu_plain_kernel(const SwigluArgs f)
{
    const int64_t n = f.rows * f.F, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += step) {
        const int64_t row = i / f.F, j = i % f.F;
        const float x = f.h1.get(row * f.h1.ld + j);
        f.g.set(i, x * sigmoid(x) * f.h3.get(row * f.h3.ld + j));
    }
}

__global__ void swiglu_grad_plain_kernel(const SwigluArgs f)
{
    const int64_t n = f.rows * f.F, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += step) {
        const int64_t row = i / f.F, j = i % f.F;
        float x = f.h1.get(row * f.h1.ld + j), v = f.h3.get(row * f.h3.ld + j), g = f.g.get(i);
        swiglu_gradient(x, v, g);
        f.dh1.set(row * f.dh1.ld + j, x);
        f.dh3.set(row * f.dh3.ld + j, v);
        if (f.again.data) f.again.set(i, g);
    }
}

/* The second operand where there is one, else the right half of the first. */
static Operand second_half(Operand first, Operand second, int64_t F)
{
    if (second.data) return second;
    char *data = static_cast<char *>(first.data) + F * (int64_t)plan_dtype_size(first.dtype);
    return Operand{data, first.dtype, first.ld};
}

/* Every operand has the same dtype and starts its rows where vectors start. (F % WIDTH == 0 puts the
 * right half of packed rows on such a place.) */
static bool takes_vectors(const OpCall *call, int64_t F)
{
    bool fit = F % WIDTH == 0 && F / THREADS <= 65535;
    const DType dtype = op_in_shape(call, 0)->dtype;
    const Node *node = call->node;
    for (int i = node->first; i < node->first + node->n_out + node->n_in; i++) {
        const int id = call->plan->operands[i];
        if (id == PLAN_NONE) continue;
        const Tensor *t = &call->plan->tensors[id];
        fit = fit && t->dtype == dtype && is_vectorizable(call->memory[id], t);
    }
    return fit;
}

static Status launch(const OpCall *call, const SwigluArgs &f, bool backward)
{
    if (takes_vectors(call, f.F)) {
        const int64_t width = 16 / (int64_t)plan_dtype_size(f.g.dtype);
        const RowGrid at = row_grid(f.rows, f.F / width, THREADS);
        DISPATCH_FLOAT(
            f.g.dtype, A,
            return launch_dependent(call->backend,
                                    backward ? swiglu_backward_kernel<A> : swiglu_forward_kernel<A>,
                                    at.grid, at.threads, f));
    }
    const unsigned blocks = grid_blocks(blocks_for(f.rows * f.F, THREADS));
    const auto plain = backward ? swiglu_grad_plain_kernel : swiglu_plain_kernel;
    plain<<<blocks, THREADS, 0, call->backend->stream>>>(f);
    return LAUNCH_STATUS();
}

Status swiglu_cuda_run(const OpCall *call)
{
    const Tensor *g = op_out_shape(call, 0);
    SwigluArgs f = {};
    f.rows = plan_rows(g);
    f.F = plan_width(g);
    f.g = operand_out(call, 0);
    f.h1 = operand_in(call, 0);
    f.h3 = second_half(f.h1, operand_in(call, 1), f.F);
    return launch(call, f, false);
}

Status swiglu_grad_cuda_run(const OpCall *call)
{
    const Tensor *dg = op_in_shape(call, 0);
    SwigluArgs f = {};
    f.rows = plan_rows(dg);
    f.F = plan_width(dg);
    f.g = operand_in(call, 0);
    f.h1 = operand_in(call, 1);
    f.h3 = second_half(f.h1, operand_in(call, 2), f.F);
    f.dh1 = operand_out(call, 0);
    f.dh3 = second_half(f.dh1, operand_out(call, 1), f.F);
    f.again = operand_out(call, SWIGLU_GRAD_G);
    return launch(call, f, true);
}
