#include "ops/cuda/elementwise_cuda.cuh"

/* One thread per row: W elements of x lie between those that are read. */
__global__ void __launch_bounds__(FLAT_THREADS)
    gather_kernel(Operand y, Operand x, const int32_t *ids, int64_t rows, int64_t W)
{
    const int64_t r = (int64_t)blockIdx.x * FLAT_THREADS + threadIdx.x;
    if (r >= rows) return;
    y.set(r, x.get(r * W + ids[r]));
}

/* Zeros everywhere but at the row's own id. */
template <typename DX>
__global__ void __launch_bounds__(FLAT_THREADS)
    gather_grad_kernel(DX dx, Operand dy, const int32_t *ids, int64_t n, int64_t W)
{
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        const int64_t i = vector_start(p);
        if (i >= n) return;
        float v[FLAT_WIDTH];
        int64_t row = i / W, col = i - row * W;
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k++) {
            const bool met = i + k < n && col == ids[row];
            v[k] = met ? dy.get(row) : 0.0F;
            if (++col == W) {
                col = 0;
                row++;
            }
        }
        write_vector(dx, i, n, v);
    }
}

Status gather_cuda_run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    const int64_t rows = plan_rows(x);
    gather_kernel<<<(unsigned)blocks_for(rows, FLAT_THREADS), FLAT_THREADS, 0,
                    call->backend->stream>>>(operand_out(call, 0), operand_in(call, 0),
                                             (const int32_t *)op_in(call, 1), rows, plan_width(x));
    return LAUNCH_STATUS();
}

Status gather_grad_cuda_run(const OpCall *call)
{
    const Tensor *shape = op_out_shape(call, 0);
    const int64_t n = plan_elements(shape);
    const auto launch = [=](auto dx) {
        gather_grad_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            dx, operand_in(call, 0), (const int32_t *)op_in(call, 1), n, plan_width(shape));
    };
    return elementwise_launch(call, launch, out_ref(call, 0));
}
