#include "ops/any_cuda.cuh"
#include "ops/impls_cuda.h"

enum { THREADS = 256 };

/* Element i of both, row after row, whatever the distance between rows and their widths. */
__global__ void cast_plain_kernel(const Any y, const Any x, int64_t n, int64_t y_width,
                                  int64_t x_width)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += step) {
        y.set(i / y_width * y.ld + i % y_width, x.get(i / x_width * x.ld + i % x_width));
    }
}

static Status run(const OpCall *call)
{
    const Tensor *y = op_out_shape(call, 0), *x = op_in_shape(call, 0);
    const int64_t n = plan_elements(x);
    cast_plain_kernel<<<any_grid(blocks_for(n, THREADS)), THREADS, 0, call->backend->stream>>>(
        any_out(call, 0), any_in(call, 0), n, plan_width(y), plan_width(x));
    TRY_LAUNCH();
    return ST_OK;
}

static const char *declines(const Plan *plan, const Node *node)
{
    if (plan_in(plan, node, 0)->dtype == DT_I32 || plan_out(plan, node, 0)->dtype == DT_I32) {
        return "integers run on a CPU only";
    }
    return impls_cuda_declines_f64(plan, node);
}

const OpImpl cast_cuda[] = {{"cast_cuda", declines, nullptr, run}, {}};
