#include "ops/cuda/elementwise_cuda.cuh"
#include "ops/cuda/impls_cuda.h"

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

/* All of the pack that starts there is masked, so that x need not be read. */
__device__ __forceinline__ bool ahead_of_all(MaskPlace at, int64_t T)
{
    return at.col > at.row && at.col + FLAT_WIDTH <= T;
}

__device__ __forceinline__ void mask_pack(float (&v)[FLAT_WIDTH], MaskPlace at, int64_t T,
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
    float v[FLAT_PACKS][FLAT_WIDTH];
    MaskPlace at[FLAT_PACKS];
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
        at[p] = mask_place(pack_start(p), T);
        if (!ahead_of_all(at[p], T.by)) read_pack(v[p], x, pack_start(p), n);
    }
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
        mask_pack(v[p], at[p], T.by, ahead);
        write_pack(y, pack_start(p), n, v[p]);
    }
}

template <typename Y, typename X> static void launch(const OpCall *call, Y y, X x)
{
    const Tensor *tx = op_in_shape(call, 0);
    const int64_t n = plan_elements(tx);
    const float ahead = call->node->attr.inverse ? 0.0F : -INFINITY;
    if constexpr (halves_agree<Y, X>) {
        causal_mask_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, n, divisor_of(plan_width(tx), n), ahead);
    }
}

static Status run(const OpCall *call)
{
    const Tensor *ty = op_out_shape(call, 0), *tx = op_in_shape(call, 0);
    void *y = op_out(call, 0);
    const void *x = op_in(call, 0);
    if (elementwise_fits(y, ty) && elementwise_fits(x, tx) && dtypes_agree(ty->dtype, tx->dtype)) {
        DISPATCH_FLOAT(
            ty->dtype, Y,
            DISPATCH_FLOAT(tx->dtype, X, launch(call, slot_of<Y>(y, ty), slot_of<X>(x, tx))));
    } else {
        launch(call, any_slot(y, ty), any_slot(x, tx));
    }
    TRY_LAUNCH();
    return ST_OK;
}

const OpImpl causal_mask_cuda[] = {
    elementwise_impl("causal_mask_cuda", gpu_plan_declines_f64, nullptr, run), {}};
