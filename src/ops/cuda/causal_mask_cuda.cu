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
__device__ __forceinline__ bool ahead_of_all(MaskPlace at, int64_t T)
{
    return at.col > at.row && at.col + FLAT_WIDTH <= T;
}

__device__ __forceinline__ void mask_vector(float (&v)[FLAT_WIDTH], MaskPlace at, int64_t T,
                                            float ahead)
{
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        if (at.col > at.row) v[k] = ahead;
        if (++at.col < T) continue;
        at.col = 0;
        if (++at.row == T) at.row = 0;
    }
}

/* y may be x. */
template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS)
    causal_mask_kernel(Y y, X x, int64_t n, Divisor T, float ahead)
{
    float v[FLAT_VECTORS][FLAT_WIDTH];
    MaskPlace at[FLAT_VECTORS];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        at[p] = mask_place(vector_start(p), T);
        if (!ahead_of_all(at[p], T.by)) read_vector(v[p], x, vector_start(p), n);
    }
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        mask_vector(v[p], at[p], T.by, ahead);
        write_vector(y, vector_start(p), n, v[p]);
    }
}

Status causal_mask_cuda_run(const OpCall *call)
{
    const Tensor *t = op_in_shape(call, 0);
    const int64_t n = plan_elements(t);
    const Divisor T = divisor_of(plan_width(t), n);
    const float ahead = call->node->attr.inverse ? 0.0F : -INFINITY;
    const auto launch = [=](auto y, auto x) {
        causal_mask_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, n, T, ahead);
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0));
}
