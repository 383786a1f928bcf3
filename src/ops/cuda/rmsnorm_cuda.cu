/* RMSNorm with the residual addition before it, and its gradient (ops/rmsnorm.c has the formulas). */
#include "ops/cuda/norm_backward_cuda.cuh"
#include "ops/cuda/norm_forward_cuda.cuh"

template <typename A, int QUADS>
__global__ void __launch_bounds__(ROW_THREADS, QUADS == 2 ? 2 : 1)
    rmsnorm_forward_kernel(const ForwardArgs f)
{
    norm_forward_rows<A, QUADS, false>(f);
}

__global__ void rmsnorm_plain_kernel(const ForwardArgs f)
{
    norm_forward_plain<false>(f);
}

template <typename A, int QUADS>
__global__ void __launch_bounds__(ROW_THREADS, QUADS == 2 ? 2 : 1)
    rmsnorm_backward_kernel(const BackwardArgs f)
{
    norm_backward_rows<A, QUADS, false>(f);
}

__global__ void rmsnorm_grad_plain_kernel(const BackwardArgs f)
{
    norm_backward_plain<false>(f);
}

Status rmsnorm_cuda_run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    ForwardArgs f = {};
    f.y = operand_out(call, 0);
    f.r = (float *)op_out(call, 1);
    f.s = (float *)op_out(call, 2);
    f.x = (const float *)op_in(call, 0);
    f.w = (const float *)op_in(call, 1);
    f.delta = operand_in(call, 2);
    f.rows = plan_rows(x);
    f.C = plan_width(x);
    f.eps = (float)call->node->attr.shift;
    const bool fit = f.C <= MOST_COLUMNS && has_dtype(op_in_shape(call, 2), f.y.dtype);
    if (fit && are_vectorizable(call, 1U << 0 | 1U << 2, 7U)) {
        DISPATCH_FLOAT(f.y.dtype, A,
                       return norm_forward_launch(call, f, rmsnorm_forward_kernel<A, 2>,
                                                  rmsnorm_forward_kernel<A, 4>));
    }
    rmsnorm_plain_kernel<<<grid_blocks(f.rows), block_threads(f.C, THREADS), 0,
                           call->backend->stream>>>(f);
    return LAUNCH_STATUS();
}

static BackwardArgs backward_args(const OpCall *call)
{
    const Tensor *s = op_in_shape(call, 1);
    BackwardArgs f = {};
    f.dx = (float *)op_out(call, 0);
    f.ddelta = operand_out(call, 1);
    f.partial = (float *)call->workspace;
    f.dy = operand_in(call, 0);
    f.s = (const float *)op_in(call, 1);
    f.w = (const float *)op_in(call, 2);
    f.r = (const float *)op_in(call, 3);
    f.ds = (const float *)op_in(call, 4);
    f.rows = plan_rows(s);
    f.C = plan_width(s);
    return f;
}

Status rmsnorm_grad_cuda_run(const OpCall *call)
{
    const BackwardArgs f = backward_args(call);
    const bool fit = f.C <= MOST_COLUMNS && has_dtype(op_out_shape(call, 1), f.dy.dtype);
    int partials = (int)std::min<int64_t>(f.rows, MOST_PARTIALS);
    if (fit && are_vectorizable(call, 3U, 7U | 1U << 4)) {
        DISPATCH_FLOAT(f.dy.dtype, A,
                       TRY(norm_backward_launch(call, f, rmsnorm_backward_kernel<A, 2>,
                                                rmsnorm_backward_kernel<A, 4>, &partials)));
    } else {
        rmsnorm_grad_plain_kernel<<<partials, block_threads(f.C, THREADS), 0,
                                    call->backend->stream>>>(f);
        TRY(LAUNCH_STATUS());
    }
    return norm_column_sums(call, {(float *)op_out(call, 2), nullptr, f.partial, partials, f.C});
}
