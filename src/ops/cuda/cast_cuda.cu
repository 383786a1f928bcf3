/* The same numbers in another dtype (ops/cast.c). */
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, ITEMS = 2 };

/* Elements a thread converts at once: 16 bytes of the wider type. */
template <typename Y, typename X>
constexpr int cast_width = vector_width<Y> < vector_width<X> ? vector_width<Y> : vector_width<X>;

/* Operands without gaps: ITEMS vectors a thread, a block's width apart, all of them on their way before
 * the first is used. The last few elements are done one by one. */
template <typename Y, typename X>
__global__ void __launch_bounds__(THREADS) cast_kernel(Y *y, const X *x, int64_t n)
{
    constexpr int W = cast_width<Y, X>;
    const int64_t whole = n / W * W;
    const int64_t first = ((int64_t)blockIdx.x * ITEMS * THREADS + threadIdx.x) * W;
    float v[ITEMS][W];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int64_t i = first + k * THREADS * W;
        if (i < whole) load_vector(v[k], x + i);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int64_t i = first + k * THREADS * W;
        if (i < whole) store_vector(y + i, v[k]);
    }
    const int64_t left = whole + threadIdx.x;
    if (blockIdx.x == 0 && left < n) y[left] = from_float<Y>(to_float(x[left]));
}

/* Element i of both, row after row, whatever the distance between rows and their widths. */
__global__ void cast_plain_kernel(const Operand y, const Operand x, int64_t n, int64_t y_width,
                                  int64_t x_width)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += step) {
        y.set(i / y_width * y.ld + i % y_width, x.get(i / x_width * x.ld + i % x_width));
    }
}

template <typename Y, typename X> static Status convert(const OpCall *call, int64_t n)
{
    const int64_t blocks = blocks_for(n, THREADS * ITEMS * cast_width<Y, X>);
    cast_kernel<<<(unsigned)blocks, THREADS, 0, call->backend->stream>>>(
        (Y *)op_out(call, 0), (const X *)op_in(call, 0), n);
    return LAUNCH_STATUS();
}

/* At most 2^31 - 1 blocks; the smallest converts THREADS * ITEMS * 4 elements. */
static bool takes_vectors(const OpCall *call, int64_t n)
{
    const uintptr_t places = (uintptr_t)op_out(call, 0) | (uintptr_t)op_in(call, 0);
    return plan_contiguous(op_out_shape(call, 0)) && plan_contiguous(op_in_shape(call, 0)) &&
           places % 16 == 0 && n / (THREADS * ITEMS * 4) < INT32_MAX;
}

Status cast_cuda_run(const OpCall *call)
{
    const Tensor *y = op_out_shape(call, 0), *x = op_in_shape(call, 0);
    const int64_t n = plan_elements(x);
    if (takes_vectors(call, n)) {
        DISPATCH_FLOAT(y->dtype, Y, DISPATCH_FLOAT(x->dtype, X, return convert<Y, X>(call, n)));
    }
    cast_plain_kernel<<<grid_blocks(blocks_for(n, THREADS)), THREADS, 0, call->backend->stream>>>(
        operand_out(call, 0), operand_in(call, 0), n, plan_width(y), plan_width(x));
    return LAUNCH_STATUS();
}
