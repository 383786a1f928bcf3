#include "ops/cuda/elementwise_cuda.cuh"
#include "ops/cuda/impls_cuda.h"

template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS)
    broadcast_kernel(Y y, X x, Repetition repetition, int64_t n, float scale)
{
    float v[FLAT_PACKS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) read_repeated(v[p], x, repetition, pack_start(p), n);
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k++) v[p][k] *= scale;
        write_pack(y, pack_start(p), n, v[p]);
    }
}

template <typename Y, typename X> static void launch(const OpCall *call, Y y, X x)
{
    const Tensor *ty = op_out_shape(call, 0);
    const int64_t n = plan_elements(ty);
    if constexpr (halves_agree<Y, X>) {
        broadcast_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, repetition_of(ty, op_in_shape(call, 0)), n, (float)call->node->attr.scale);
    }
}

static Status run(const OpCall *call)
{
    const Tensor *ty = op_out_shape(call, 0), *tx = op_in_shape(call, 0);
    void *y = op_out(call, 0);
    const void *x = op_in(call, 0);
    const bool agree = tx->dtype != DT_F64 && dtypes_agree(ty->dtype, tx->dtype);
    if (agree && elementwise_fits(y, ty) && elementwise_fits(x, tx)) {
        DISPATCH_FLOAT(
            ty->dtype, Y,
            DISPATCH_FLOAT(tx->dtype, X, launch(call, slot_of<Y>(y, ty), slot_of<X>(x, tx))));
    } else {
        launch(call, any_slot(y, ty), any_slot(x, tx));
    }
    TRY_LAUNCH();
    return ST_OK;
}

/* A single element may be float64: the loss scale is. */
const OpImpl broadcast_cuda[] = {
    elementwise_impl("broadcast_cuda", gpu_plan_declines_broadcast, nullptr, run), {}};
