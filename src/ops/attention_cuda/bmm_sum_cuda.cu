/* Sums over the heads of a group are kept in fp32 until they are whole, so that a 16-bit result is
 * rounded once. */
#include "ops/cuda/gemm_cuda.h"
#include "ops/cuda/launch_cuda.cuh"

enum { ROUND_THREADS = 256 };

__global__ void __launch_bounds__(ROUND_THREADS)
    bmm_round_kernel(Operand to, const float *sum, int64_t rows, int64_t width)
{
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int64_t i = threadIdx.x; i < width; i += blockDim.x) {
            to.set(row * to.ld + i, sum[row * width + i]);
        }
    }
}

Status bmm_sum_cuda_round(const OpCall *call, const float *sum)
{
    const Tensor *c = op_out_shape(call, 0);
    const int64_t rows = plan_rows(c), width = plan_width(c);
    bmm_round_kernel<<<grid_blocks(rows), block_threads(width, ROUND_THREADS), 0,
                       call->backend->stream>>>(operand_out(call, 0), sum, rows, width);
    return LAUNCH_STATUS();
}
