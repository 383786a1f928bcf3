#include "ops/cuda/elementwise_cuda.cuh"
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
    float a[FLAT_VECTORS][FLAT_WIDTH], b[FLAT_VECTORS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        read_vector(a[p], x, vector_start(p), n);
        read_repeated(b[p], y, repetition, vector_start(p), n);
    }
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        binary_apply(fn, a[p], b[p]);
        write_vector(z, vector_start(p), n, a[p]);
    }
}

Status binary_cuda_run(const OpCall *call)
{
    const Tensor *large = op_in_shape(call, 0);
    const int64_t n = plan_elements(large);
    const Repetition repetition = repetition_of(large, op_in_shape(call, 1));
    const auto launch = [=](auto z, auto x, auto y) {
        binary_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            z, x, y, repetition, n, call->node->attr.fn);
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0), in_ref(call, 1));
}
