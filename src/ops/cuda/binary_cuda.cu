#include "ops/cuda/elementwise_cuda.cuh"
#include "ops/cuda/impls_cuda.h"
#include "plan/op_functions.h"

#define EACH(result)                                                    \
    _Pragma("unroll") for (int k = 0; k < FLAT_WIDTH; k++) x[k] result; \
    break

/* x = f(x, y); the function is the same for the whole grid. */
__device__ __forceinline__ void binary_apply(int fn, float (&x)[FLAT_WIDTH],
                                             const float (&y)[FLAT_WIDTH])
{
    switch (fn) {
    case FN_ADD:
        EACH(+= y[k]);
    case FN_SUB:
        EACH(-= y[k]);
    case FN_MUL:
        EACH(*= y[k]);
    case FN_DIV:
        EACH(/= y[k]);
    default:
        break;
    }
}

/* z may be x. */
template <typename Z, typename X, typename Y>
__global__ void __launch_bounds__(FLAT_THREADS)
    binary_kernel(Z z, X x, Y y, Repetition repetition, int64_t n, int fn)
{
    float a[FLAT_PACKS][FLAT_WIDTH], b[FLAT_PACKS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
        read_pack(a[p], x, pack_start(p), n);
        read_repeated(b[p], y, repetition, pack_start(p), n);
    }
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
        binary_apply(fn, a[p], b[p]);
        write_pack(z, pack_start(p), n, a[p]);
    }
}

template <typename Z, typename X, typename Y> static void launch(const OpCall *call, Z z, X x, Y y)
{
    const Tensor *tx = op_in_shape(call, 0);
    const int64_t n = plan_elements(tx);
    if constexpr (halves_agree<Z, X> && halves_agree<Z, Y> && halves_agree<X, Y>) {
        binary_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            z, x, y, repetition_of(tx, op_in_shape(call, 1)), n, call->node->attr.fn);
    }
}

static Status run(const OpCall *call)
{
    const Tensor *tz = op_out_shape(call, 0), *tx = op_in_shape(call, 0),
                 *ty = op_in_shape(call, 1);
    void *z = op_out(call, 0);
    const void *x = op_in(call, 0), *y = op_in(call, 1);
    const bool agree = dtypes_agree(tz->dtype, tx->dtype) && dtypes_agree(tz->dtype, ty->dtype) &&
                       dtypes_agree(tx->dtype, ty->dtype);
    if (agree && elementwise_fits(z, tz) && elementwise_fits(x, tx) && elementwise_fits(y, ty)) {
        DISPATCH_FLOAT(
            tz->dtype, Z,
            DISPATCH_FLOAT(tx->dtype, X,
                           DISPATCH_FLOAT(ty->dtype, Y,
                                          launch(call, slot_of<Z>(z, tz), slot_of<X>(x, tx),
                                                 slot_of<Y>(y, ty)))));
    } else {
        launch(call, any_slot(z, tz), any_slot(x, tx), any_slot(y, ty));
    }
    TRY_LAUNCH();
    return ST_OK;
}

const OpImpl binary_cuda[] = {elementwise_impl("binary_cuda", gpu_plan_declines_f64, nullptr, run),
                              {}};
