#include "ops/cuda/elementwise_cuda.cuh"
#include "ops/cuda/impls_cuda.h"
#include "plan/op_functions.h"

struct UnaryFormula {
    int fn;
    float scale, shift;
};

__device__ __forceinline__ float sigmoid(float x)
{
    return 1.0F / (1.0F + expf(-x));
}

#define EACH(result)                                               \
    _Pragma("unroll") for (int k = 0; k < FLAT_WIDTH; k++) result; \
    break

/* v = f(v) */
__device__ __forceinline__ void unary_apply(UnaryFormula f, float (&v)[FLAT_WIDTH])
{
    switch (f.fn) {
    case FN_AFFINE:
        EACH(v[k] = f.scale * v[k] + f.shift);
    case FN_SQUARE:
        EACH(v[k] *= v[k]);
    case FN_EXP:
        EACH(v[k] = expf(v[k]));
    case FN_LOG:
        EACH(v[k] = logf(v[k]));
    case FN_RSQRT:
        EACH(v[k] = rsqrtf(v[k]));
    case FN_SILU:
        EACH(v[k] *= sigmoid(v[k]));
    default:
        break;
    }
}

__device__ __forceinline__ float silu_slope(float x)
{
    const float s = sigmoid(x);
    return s * (1.0F + x * (1.0F - s));
}

/* d = d f'; `s` is x or y, whichever the slope is written with. */
__device__ __forceinline__ void unary_apply_grad(UnaryFormula f, float (&d)[FLAT_WIDTH],
                                                 const float (&s)[FLAT_WIDTH])
{
    switch (f.fn) {
    case FN_AFFINE:
        EACH(d[k] *= f.scale);
    case FN_SQUARE:
        EACH(d[k] *= 2.0F * s[k]);
    case FN_EXP:
        EACH(d[k] *= s[k]);
    case FN_LOG:
        EACH(d[k] /= s[k]);
    case FN_RSQRT:
        EACH(d[k] *= -0.5F * s[k] * s[k] * s[k]);
    case FN_SILU:
        EACH(d[k] *= silu_slope(s[k]));
    default:
        break;
    }
}

/* y may be x. */
template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS) unary_kernel(Y y, X x, int64_t n, UnaryFormula f)
{
    float v[FLAT_PACKS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) read_pack(v[p], x, pack_start(p), n);
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
        unary_apply(f, v[p]);
        write_pack(y, pack_start(p), n, v[p]);
    }
}

/* dx may be dy. `saved` is not read where the slope does not need it. */
template <typename DX, typename DY, typename S>
__global__ void __launch_bounds__(FLAT_THREADS)
    unary_grad_kernel(DX dx, DY dy, S saved, int64_t n, UnaryFormula f)
{
    float d[FLAT_PACKS][FLAT_WIDTH], s[FLAT_PACKS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
        read_pack(d[p], dy, pack_start(p), n);
        if (f.fn != FN_AFFINE) read_pack(s[p], saved, pack_start(p), n);
    }
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
        unary_apply_grad(f, d[p], s[p]);
        write_pack(dx, pack_start(p), n, d[p]);
    }
}

static UnaryFormula formula(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    return {attr->fn, (float)attr->scale, (float)attr->shift};
}

template <typename Y, typename X> static void launch(const OpCall *call, Y y, X x)
{
    const int64_t n = plan_elements(op_out_shape(call, 0));
    if constexpr (halves_agree<Y, X>) {
        unary_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, n, formula(call));
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

template <typename DX, typename DY, typename S>
static void launch_grad(const OpCall *call, DX dx, DY dy, S saved)
{
    const int64_t n = plan_elements(op_out_shape(call, 0));
    if constexpr (halves_agree<DX, DY> && halves_agree<DX, S> && halves_agree<DY, S>) {
        unary_grad_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            dx, dy, saved, n, formula(call));
    }
}

/* The input that the slope is written with; dy stands in where there is none. */
static int saved_input(int fn)
{
    switch (fn) {
    case FN_SQUARE:
    case FN_LOG:
    case FN_SILU:
        return 1;
    case FN_EXP:
    case FN_RSQRT:
        return 2;
    default:
        return 0;
    }
}

static Status run_grad(const OpCall *call)
{
    const int in = saved_input(call->node->attr.fn);
    const Tensor *tdx = op_out_shape(call, 0), *tdy = op_in_shape(call, 0),
                 *ts = op_in_shape(call, in);
    void *dx = op_out(call, 0);
    const void *dy = op_in(call, 0), *saved = op_in(call, in);
    const bool agree = dtypes_agree(tdx->dtype, tdy->dtype) &&
                       dtypes_agree(tdx->dtype, ts->dtype) && dtypes_agree(tdy->dtype, ts->dtype);
    if (agree && elementwise_fits(dx, tdx) && elementwise_fits(dy, tdy) &&
        elementwise_fits(saved, ts)) {
        DISPATCH_FLOAT(tdx->dtype, DX,
                       DISPATCH_FLOAT(tdy->dtype, DY,
                                      DISPATCH_FLOAT(ts->dtype, S,
                                                     launch_grad(call, slot_of<DX>(dx, tdx),
                                                                 slot_of<DY>(dy, tdy),
                                                                 slot_of<S>(saved, ts)))));
    } else {
        launch_grad(call, any_slot(dx, tdx), any_slot(dy, tdy), any_slot(saved, ts));
    }
    TRY_LAUNCH();
    return ST_OK;
}

const OpImpl unary_cuda[] = {elementwise_impl("unary_cuda", gpu_plan_declines_f64, nullptr, run),
                             {}};
const OpImpl unary_grad_cuda[] = {
    elementwise_impl("unary_grad_cuda", gpu_plan_declines_f64, nullptr, run_grad), {}};
