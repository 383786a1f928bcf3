#include "ops/cuda/launch_cuda.cuh"
#include "ops/fp8_cuda/scale_order_cuda.h"

enum { THREADS = 256 };

static __host__ __device__ int64_t scales_of(const ScaleOrder &f)
{
    return f.to ? f.rows * (f.step ? f.step : f.cols) : 0;
}

/* Neighbouring threads write neighbouring scales. */
static __device__ void move(const ScaleOrder &f, int64_t i)
{
    if (f.step) {
        const int64_t row = i / f.step, col = i % f.step;
        f.to[i] = col < f.cols ? f.from[row * f.cols + col] : 0;
    } else {
        const int64_t col = i / f.rows, row = i % f.rows;
        f.to[i] = f.from[row * f.cols + col];
    }
}

__global__ void __launch_bounds__(THREADS) scale_order_kernel(const ScaleOrders f)
{
    wait_for_dependency();
    const int64_t i = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (i < scales_of(f.a)) move(f.a, i);
    if (i < scales_of(f.b)) move(f.b, i);
}

Status scale_order_cuda_move(const Backend *be, const ScaleOrders *orders)
{
    const int64_t n = std::max(scales_of(orders->a), scales_of(orders->b));
    return launch_dependent(be, scale_order_kernel, dim3(grid_blocks(blocks_for(n, THREADS))),
                            dim3(THREADS), *orders);
}
