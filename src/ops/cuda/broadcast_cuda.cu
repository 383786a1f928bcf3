#include "ops/cuda/elementwise_cuda.cuh"

template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS)
    broadcast_kernel(Y y, X x, Repetition repetition, int64_t n, float scale)
{
    float v[FLAT_VECTORS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) read_repeated(v[p], x, repetition, vector_start(p), n);
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k++) v[p][k] *= scale;
        write_vector(y, vector_start(p), n, v[p]);
    }
}

Status broadcast_cuda_run(const OpCall *call)
{
    const Tensor *large = op_out_shape(call, 0);
    const int64_t n = plan_elements(large);
    const Repetition repetition = repetition_of(large, op_in_shape(call, 0));
    const auto launch = [=](auto y, auto x) {
        broadcast_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, x, repetition, n, (float)call->node->attr.scale);
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0));
}
