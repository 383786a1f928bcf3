#include "ops/cuda/elementwise_cuda.cuh"

#include <math.h>

/* Element i of the matrices [T, T]. */
struct MaskPlace {
    int64_t row, col; /* 0 <= row, col < T */
};

__device__ __forceinline__ MaskPlace mask_place(int64_t i, Divisor T)
{
    const int64_t row = quotient(i, T), matrix = quotient(row, T);
    return {row - matrix * T.by, i - row * T.by};
}

/* All of the vector that starts there is masked, so that x need not be read. */
__device__ __forceinline__ bool hides_all(MaskPlace at, int64_t T, int64_t window)
{
    const bool after = at.col > at.row, before = at.row - at.col - (FLAT_WIDTH - 1) >= window;
    return (after || before) && at.col + FLAT_WIDTH <= T;
}

__device__ __forceinline__ void mask_vector(float (&v)[FLAT_WIDTH], MaskPlace at, int64_t T,
                                            int64_t window, float hidden)
{
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        /* as unsigned numbers, differences below 0 are beyond every window */
        if ((uint64_t)(at.row - at.col) >= (uint64_t)window) v[k] = hidden;
        if (++at.col < T) continue;
        at.col = 0;
        if (++at.row == T) at.row = 0;
    }
}

/* A row sees the last `window` columns up to its own. y may be x. */
template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS)
    causal_mask_kernel(Y y, X x, int64_t n, Divisor T, int64_t window, float hidden)
{
    float v[FLAT_VECTORS][FLAT_WIDTH];
    MaskPlace at[FLAT_VECTORS];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        at[p] = mask_place(vector_start(p), T);
        if (!hides_all(at[p], T.by, window)) read_vector(v[p], x, vector_start(p), n);
    }
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        mask_vector(v[p], at[p], T.by, window, hidden);
        write_vector(y, vector_start(p), n, v[p]);
    }
}

Status causal_mask_cuda_run(const OpCall *call)
{
    const Tensor *t = op_in_shape(call, 0);
    const int64_t n = plan_elements(t);
    const NodeAttr *attr = &call->node->attr;
    const Divisor T = divisor_of(plan_width(t), n);
    const int64_t window = attr->window > 0 ? attr->window : plan_width(t);
    const float hidden = attr->inverse ? 0.0F : -INFINITY;
    const auto launch = [=](auto y, auto x) {
        causal_mask_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, n, T, window, hidden);
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0));
}
