#include "ops/cuda/elementwise_cuda.cuh"
#include "ops/cuda/impls_cuda.h"

static_assert(FLAT_WIDTH % 2 == 0, "a pack holds whole pairs");

/* y may be x. The number of elements is even, so a short last pack holds whole pairs too. */
template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS) rotate_pairs_kernel(Y y, X x, int64_t n, float sign)
{
    float v[FLAT_PACKS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) read_pack(v[p], x, pack_start(p), n);
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k += 2) {
            const float x0 = v[p][k], x1 = v[p][k + 1];
            v[p][k] = sign * x1;
            v[p][k + 1] = -sign * x0;
        }
        write_pack(y, pack_start(p), n, v[p]);
    }
}

template <typename Y, typename X> static void launch(const OpCall *call, Y y, X x)
{
    const int64_t n = plan_elements(op_in_shape(call, 0));
    if constexpr (halves_agree<Y, X>) {
        rotate_pairs_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, n, call->node->attr.inverse ? 1.0F : -1.0F);
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

const OpImpl rotate_pairs_cuda[] = {
    elementwise_impl("rotate_pairs_cuda", gpu_plan_declines_f64, nullptr, run), {}};
