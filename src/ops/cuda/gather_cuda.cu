#include "ops/cuda/elementwise_cuda.cuh"
#include "ops/cuda/impls_cuda.h"

/* One thread per row: W elements of x lie between those that are read. */
__global__ void __launch_bounds__(FLAT_THREADS)
    gather_kernel(AnySlot y, AnySlot x, const int32_t *ids, int64_t rows, int64_t W)
{
    const int64_t r = (int64_t)blockIdx.x * FLAT_THREADS + threadIdx.x;
    if (r >= rows) return;
    write_any(y.data, y.dtype, r, read_any(x.data, x.dtype, r * W + ids[r]));
}

/* Zeros everywhere but where a row's own id is met. */
template <typename DX>
__global__ void __launch_bounds__(FLAT_THREADS)
    gather_grad_kernel(DX dx, AnySlot dy, const int32_t *ids, int64_t n, int64_t W)
{
#pragma unroll
    for (int p = 0; p < FLAT_PACKS; p++) {
        const int64_t i = pack_start(p);
        if (i >= n) return;
        float v[FLAT_WIDTH];
        int64_t row = i / W, col = i - row * W;
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k++) {
            const bool met = i + k < n && col == ids[row];
            v[k] = met ? read_any(dy.data, dy.dtype, row) : 0.0F;
            if (++col == W) {
                col = 0;
                row++;
            }
        }
        write_pack(dx, i, n, v);
    }
}

static Status run(const OpCall *call)
{
    const Tensor *tx = op_in_shape(call, 0), *ty = op_out_shape(call, 0);
    const int64_t rows = plan_rows(tx);
    gather_kernel<<<(unsigned)blocks_for(rows, FLAT_THREADS), FLAT_THREADS, 0,
                    call->backend->stream>>>(any_slot(op_out(call, 0), ty),
                                             any_slot(op_in(call, 0), tx),
                                             (const int32_t *)op_in(call, 1), rows, plan_width(tx));
    TRY_LAUNCH();
    return ST_OK;
}

template <typename DX> static void launch_grad(const OpCall *call, DX dx)
{
    const Tensor *tdx = op_out_shape(call, 0);
    const int64_t n = plan_elements(tdx);
    gather_grad_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
        dx, any_slot(op_in(call, 0), op_in_shape(call, 0)), (const int32_t *)op_in(call, 1), n,
        plan_width(tdx));
}

static Status run_grad(const OpCall *call)
{
    const Tensor *tdx = op_out_shape(call, 0);
    void *dx = op_out(call, 0);
    if (elementwise_fits(dx, tdx)) {
        DISPATCH_FLOAT(tdx->dtype, DX, launch_grad(call, slot_of<DX>(dx, tdx)));
    } else {
        launch_grad(call, any_slot(dx, tdx));
    }
    TRY_LAUNCH();
    return ST_OK;
}

const OpImpl gather_cuda[] = {elementwise_impl("gather_cuda", gpu_plan_declines_f64, nullptr, run),
                              {}};
const OpImpl gather_grad_cuda[] = {
    elementwise_impl("gather_grad_cuda", gpu_plan_declines_f64, nullptr, run_grad), {}};
