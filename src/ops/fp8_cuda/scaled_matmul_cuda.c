/* Products of 8-bit floats through cuBLASLt.
 *
 * To cuBLASLt, which is column-major, our a [m, k] and b [n, k] have k along their columns: c^T = b a^T is
 * the product of its transposed first operand, b, and its second, a ("TN"), the only layout in which it
 * multiplies 8-bit floats on compute capability 8.9 and 9.0. Either may be e5m2, not both.
 *
 * Scales, in the words of its documentation: one of a matrix is a scalar; OUTER_VEC is a vector with one
 * for each row of our a and b; VEC128 (128 numbers along k) is to be M-major, so that those of
 * neighbouring rows lie side by side; BLK128x128 is K-major, and rows of it are a multiple of 4 apart; of
 * a pair of these only one may be squares. Scales of blocks begin at multiples of 16 bytes. Ours are
 * row-major: those of blocks are moved into the workspace where the order differs. */
#include "ops/cuda/gemm_cuda.h"
#include "ops/cuda/impls_cuda.h"
#include "ops/fp8/scaled_matmul.h"
#include "ops/fp8_cuda/scale_order_cuda.h"

/* Whether sums may stay in the tensor cores, which have fewer bits than fp32 for them, or are moved to fp32
 * every few terms. What is lost forward is little beside what 8 bits lose; gradients of weights are sums over
 * all tokens. Of 4096^3 an H200 makes 1,468 TFLOP/s with it and 1,290 without. Products with scales of blocks
 * always move their sums. */
static const bool fast_forward = true, fast_backward = false;

static bool is_fast(const Node *node, GpuSupportScalePair pair)
{
    const bool moves = pair.a != GPU_SUPPORT_SCALES_TENSOR && pair.a != GPU_SUPPORT_SCALES_ROWS;
    return !moves && (node->attr.gradient ? fast_backward : fast_forward);
}

/* An operand's scales: as they are, and where and how cuBLASLt reads them. */
static ScaleOrder order_of(const OpCall *call, int input, GpuSupportScales scales, size_t offset)
{
    const Tensor *t = op_in_shape(call, input);
    const bool moved = gpu_support_fp8_moved_bytes(t, scales) > 0;
    return (ScaleOrder){.from = op_in(call, input),
                        .to = moved ? (float *)((char *)call->workspace + offset) : NULL,
                        .rows = plan_rows(t),
                        .cols = plan_width(t),
                        .step = scales == GPU_SUPPORT_SCALES_SQUARES
                                    ? gpu_support_fp8_square_step(plan_width(t))
                                    : 0};
}

static ScaleOrders orders_of(const OpCall *call, GpuSupportScalePair pair)
{
    const size_t first = GPU_SUPPORT_CUBLASLT;
    const size_t bytes =
        gpu_support_fp8_moved_bytes(op_in_shape(call, SCALED_MATMUL_IN_SCALE_A), pair.a);
    return (ScaleOrders){order_of(call, SCALED_MATMUL_IN_SCALE_A, pair.a, first),
                         order_of(call, SCALED_MATMUL_IN_SCALE_B, pair.b, first + bytes)};
}

static GemmMatrix matrix_of(const Tensor *t, const void *data)
{
    return (GemmMatrix){.dtype = t->dtype, .ld = t->ld, .align = gemm_cuda_align(data, 0, 0)};
}

static const float *read_from(const ScaleOrder *order)
{
    return order->to ? order->to : order->from;
}

static GemmShape shape_of(const OpCall *call, GpuSupportScalePair pair)
{
    const Tensor *c = op_out_shape(call, 0), *a = op_in_shape(call, 0);
    const ScaleOrders orders = orders_of(call, pair);
    const void *bias = op_in(call, SCALED_MATMUL_IN_BIAS);
    return (GemmShape){.m = plan_rows(c),
                       .n = plan_width(c),
                       .k = plan_width(a),
                       .batch = 1,
                       .a = matrix_of(a, op_in(call, 0)),
                       .b = matrix_of(op_in_shape(call, 1), op_in(call, 1)),
                       .c = matrix_of(c, op_out(call, 0)),
                       .transpose_b = true,
                       .accumulate = call->node->attr.accumulate,
                       .bias = bias,
                       .bias_align = gemm_cuda_align(bias, 0, 0),
                       .scale_a = read_from(&orders.a),
                       .scale_b = read_from(&orders.b),
                       .scales = pair,
                       .fast = is_fast(call->node, pair)};
}

static Status prepare(const OpCall *call)
{
    const GpuSupportScalePair pair = gpu_support_fp8_pair(call->plan, call->node);
    const GemmShape shape = shape_of(call, pair);
    const char *lacks = gpu_support_fp8_library_lacks(pair, cublasLtGetVersion());
    Gemm *gemm = NULL;
    if (lacks) return FAIL(ST_UNSUPPORTED, "%s: use --fp8-recipe current", lacks);
    const Status status =
        gemm_cuda_open(call, &shape, op_in(call, 0), op_in(call, 1), op_out(call, 0), &gemm);
    *call->state = gemm;
    return status;
}

static Status run(const OpCall *call)
{
    const Gemm *gemm = *call->state;
    const ScaleOrders orders = orders_of(call, gemm->shape.scales);
    if (orders.a.to || orders.b.to) TRY(scale_order_cuda_move(call->backend, &orders));
    return gemm_cuda_run(gemm, call->backend, 1, op_in(call, 0), op_in(call, 1), op_out(call, 0),
                         call->workspace);
}

const OpImpl scaled_matmul_cuda[] = {{"cublaslt", gpu_support_fp8_declines_scaled_matmul,
                                      gpu_support_fp8_workspace_scaled_matmul, run, prepare,
                                      gemm_cuda_free},
                                     {0}};
