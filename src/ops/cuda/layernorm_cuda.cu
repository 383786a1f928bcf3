/* LayerNorm with the residual addition before it, and its gradient (ops/layernorm.c has the formulas). */
#include "ops/cuda/norm_backward_cuda.cuh"
#include "ops/cuda/norm_forward_cuda.cuh"

template <typename A, int QUADS>
__global__ void __launch_bounds__(ROW_THREADS, QUADS == 2 ? 2 : 1)
    layernorm_forward_kernel(const ForwardArgs f)
{
    norm_forward_rows<A, QUADS, true>(f);
}

__global__ void layernorm_plain_kernel(const ForwardArgs f)
{
    norm_forward_plain<true>(f);
}

template <typename A, int QUADS>
__global__ void __launch_bounds__(ROW_THREADS, QUADS == 2 ? 2 : 1)
    layernorm_backward_kernel(const BackwardArgs f)
{
    norm_backward_rows<A, QUADS, true>(f);
}

__global__ void layernorm_grad_plain_kernel(const BackwardArgs f)
{
    norm_backward_plain<true>(f);
}

Status layernorm_cuda_run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    ForwardArgs f = {};
    f.y = operand_out(call, 0);
    f.m = (float *)op_out(call, 1);
    f.r = (float *)op_out(call, 2);
    f.s = (float *)op_out(call, 3);
    f.x = (const float *)op_in(call, 0);
    f.w = (const float *)op_in(call, 1);
    f.b = (const float *)op_in(call, 2);
    f.delta = operand_in(call, 3);
    f.rows = plan_rows(x);
    f.C = plan_width(x);
    f.eps = (float)call->node->attr.shift;
    const bool fit = f.C <= MOST_COLUMNS && has_dtype(op_in_shape(call, 3), f.y.dtype);
    if (fit && are_vectorizable(call, 1U << 0 | 1U << 3, 15U)) {
        DISPATCH_FLOAT(f.y.dtype, A,
                       return norm_forward_launch(call, f, layernorm_forward_kernel<A, 2>,
                                                  layernorm_forward_kernel<A, 4>));
    }
    layernorm_plain_kernel<<<grid_blocks(f.rows), block_threads(f.C, THREADS), 0,
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
    f.m = (const float *)op_in(call, 3);
    f.r = (const float *)op_in(call, 4);
    f.ds = (const float *)op_in(call, 5);
    f.rows = plan_rows(s);
    f.C = plan_width(s);
    return f;
}

Status layernorm_grad_cuda_run(const OpCall *call)
{
    const BackwardArgs f = backward_args(call);
    const bool fit = f.C <= MOST_COLUMNS && has_dtype(op_out_shape(call, 1), f.dy.dtype);
    int partials = (int)std::min<int64_t>(f.rows, MOST_PARTIALS);
    if (fit && are_vectorizable(call, 3U, 7U | 1U << 5)) {
        DISPATCH_FLOAT(f.dy.dtype, A,
                       TRY(norm_backward_launch(call, f, layernorm_backward_kernel<A, 2>,
                                                layernorm_backward_kernel<A, 4>, &partials)));
    } else {
        layernorm_grad_plain_kernel<<<partials, block_threads(f.C, THREADS), 0,
                                      call->backend->stream>>>(f);
        TRY(LAUNCH_STATUS());
    }
    return norm_column_sums(
        call, {(float *)op_out(call, 2), (float *)op_out(call, 3), f.partial, partials, f.C});
}
