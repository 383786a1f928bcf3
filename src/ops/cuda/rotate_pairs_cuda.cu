#include "ops/cuda/elementwise_cuda.cuh"

static_assert(FLAT_WIDTH % 2 == 0, "a vector holds whole pairs");

/* y may be x. The number of elements is even, so a short last vector holds whole pairs too. */
template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS) rotate_pairs_kernel(Y y, X x, int64_t n, float sign)
{
    float v[FLAT_VECTORS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) read_vector(v[p], x, vector_start(p), n);
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k += 2) {
            const float x0 = v[p][k], x1 = v[p][k + 1];
            v[p][k] = sign * x1;
            v[p][k + 1] = -sign * x0;
        }
        write_vector(y, vector_start(p), n, v[p]);
    }
}

Status rotate_pairs_cuda_run(const OpCall *call)
{
    const int64_t n = plan_elements(op_in_shape(call, 0));
    const float sign = call->node->attr.inverse ? 1.0F : -1.0F;
    const auto launch = [=](auto y, auto x) {
        rotate_pairs_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, n, sign);
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0));
}
