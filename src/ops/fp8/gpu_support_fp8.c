/* 8-bit floats on a GPU: kernels of the program quantize, cuBLASLt multiplies. */
#include "base/i64.h"
#include "ops/fp8/quantize.h"
#include "ops/fp8/scaled_matmul.h"
#include "ops/gpu_support.h"

/* ---- who shares a scale ---- */

static int64_t blocks(int64_t size)
{
    return i64_ceil_div(size, QUANTIZE_BLOCK);
}

/* Small matrices have the same scales in several ways: all of them are right. */
static bool is_shared(const Tensor *x, const Tensor *scale, GpuSupportScales scales)
{
    const int64_t rows = plan_rows(scale), cols = plan_width(scale);
    switch (scales) {
    case GPU_SUPPORT_SCALES_TENSOR:
        return rows == 1 && cols == 1;
    case GPU_SUPPORT_SCALES_ROWS:
        return rows == plan_rows(x) && cols == 1;
    case GPU_SUPPORT_SCALES_BLOCKS:
        return rows == plan_rows(x) && cols == blocks(plan_width(x));
    case GPU_SUPPORT_SCALES_SQUARES:
        return rows == blocks(plan_rows(x)) && cols == blocks(plan_width(x));
    default:
        return false;
    }
}

/* ---- quantize ---- */

/* Blocks and squares first: they take one pass over the numbers. */
GpuSupportScales gpu_support_fp8_scales(const Plan *plan, const Node *node, int first)
{
    static const GpuSupportScales ways[] = {GPU_SUPPORT_SCALES_SQUARES, GPU_SUPPORT_SCALES_BLOCKS,
                                            GPU_SUPPORT_SCALES_TENSOR, GPU_SUPPORT_SCALES_ROWS};
    const Tensor *q = plan_out(plan, node, first), *scale = plan_out(plan, node, first + 1);
    for (size_t i = 0; q && i < sizeof ways / sizeof *ways; i++) {
        if (is_shared(q, scale, ways[i])) return ways[i];
    }
    return GPU_SUPPORT_SCALES_NONE;
}

const char *gpu_support_fp8_declines_quantize(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, QUANTIZE_IN_X);
    const Tensor *q = plan_out(plan, node, QUANTIZE_OUT_Q);
    const Tensor *transposed = plan_out(plan, node, QUANTIZE_OUT_TRANSPOSED);
    if (x->dtype != DT_F32 && x->dtype != DT_BF16 && x->dtype != DT_F16)
        return "it quantizes fp32, bf16 and fp16";
    if (q && transposed && q->dtype != transposed->dtype)
        return "the numbers and the transposed ones differ in dtype";
    for (int first = 0; first <= QUANTIZE_OUT_TRANSPOSED; first += QUANTIZE_OUT_TRANSPOSED) {
        if (plan_out(plan, node, first) &&
            gpu_support_fp8_scales(plan, node, first) == GPU_SUPPORT_SCALES_NONE)
            return "a scale is one of a matrix, a row, 128 numbers of a row, or 128 x 128 numbers";
    }
    return NULL;
}

/* Scales that are shared beyond a tile are known after a pass of their own. */
GpuSupportSizes gpu_support_fp8_sizes(const Plan *plan, const Node *node)
{
    GpuSupportSizes sizes = {0};
    if (plan_in(plan, node, QUANTIZE_IN_RECENT)) return sizes;
    const Tensor *x = plan_in(plan, node, QUANTIZE_IN_X);
    const GpuSupportScales q = gpu_support_fp8_scales(plan, node, QUANTIZE_OUT_Q);
    const GpuSupportScales qt = gpu_support_fp8_scales(plan, node, QUANTIZE_OUT_TRANSPOSED);
    if (q == GPU_SUPPORT_SCALES_TENSOR || qt == GPU_SUPPORT_SCALES_TENSOR)
        sizes.partials = GPU_SUPPORT_FP8_PARTIALS;
    if (q == GPU_SUPPORT_SCALES_ROWS) sizes.rows = plan_rows(x);
    if (qt == GPU_SUPPORT_SCALES_ROWS) sizes.cols = plan_width(x);
    return sizes;
}

size_t gpu_support_fp8_workspace_quantize(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const GpuSupportSizes sizes = gpu_support_fp8_sizes(plan, node);
    return (size_t)(sizes.partials + sizes.rows + sizes.cols) * sizeof(uint32_t);
}

/* A thread has 8 columns of 4 rows, and 16 numbers of a column are written at once. */
const char *gpu_support_fp8_declines_gate(const Plan *plan, const Node *node)
{
    const Tensor *h = plan_in(plan, node, node->op == OP_swiglu_fp8 ? 0 : 1);
    QuantizePlace place[QUANTIZE_PLACES];
    const int n = quantize_places(node, place);
    const Tensor *dg = node->op == OP_swiglu_fp8 ? NULL : plan_in(plan, node, 0);
    if (h->dtype != DT_BF16 || (dg && dg->dtype != DT_BF16)) return "it makes 8-bit floats of bf16";
    if (plan_rows(h) % 16 || plan_width(h) % 16) return "it takes multiples of 16 rows and columns";
    for (int i = 0; i < n; i++) {
        for (int pair = 0; pair <= QUANTIZE_OUT_TRANSPOSED; pair += QUANTIZE_OUT_TRANSPOSED) {
            const Tensor *q = plan_out(plan, node, place[i].out + pair);
            const Tensor *scale = plan_out(plan, node, place[i].out + pair + 1);
            if (q && plan_elements(scale) != 1) return "it has one scale for all numbers";
            const Tensor *first = plan_out(plan, node, place[i].out);
            if (q && place[i].class_of == QUANTIZE_ACTIVATIONS && q->dtype != DT_E4M3)
                return "it makes e4m3 of g";
            if (q && first && q->dtype != first->dtype)
                return "the numbers and the transposed ones differ in dtype";
        }
    }
    return NULL;
}

/* ---- scaled_matmul ---- */

GpuSupportScalePair gpu_support_fp8_pair(const Plan *plan, const Node *node)
{
    static const GpuSupportScalePair ways[] = {
        {GPU_SUPPORT_SCALES_TENSOR, GPU_SUPPORT_SCALES_TENSOR},
        {GPU_SUPPORT_SCALES_ROWS, GPU_SUPPORT_SCALES_ROWS},
        {GPU_SUPPORT_SCALES_BLOCKS, GPU_SUPPORT_SCALES_SQUARES},
        {GPU_SUPPORT_SCALES_SQUARES, GPU_SUPPORT_SCALES_BLOCKS},
        {GPU_SUPPORT_SCALES_BLOCKS, GPU_SUPPORT_SCALES_BLOCKS}};
    const Tensor *a = plan_in(plan, node, 0), *b = plan_in(plan, node, 1);
    const Tensor *of_a = plan_in(plan, node, SCALED_MATMUL_IN_SCALE_A);
    const Tensor *of_b = plan_in(plan, node, SCALED_MATMUL_IN_SCALE_B);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (is_shared(a, of_a, ways[i].a) && is_shared(b, of_b, ways[i].b)) return ways[i];
    }
    return (GpuSupportScalePair){GPU_SUPPORT_SCALES_NONE, GPU_SUPPORT_SCALES_NONE};
}

int64_t gpu_support_fp8_square_step(int64_t cols)
{
    enum { MULTIPLE = 4 };
    return i64_round_up(cols, MULTIPLE);
}

size_t gpu_support_fp8_moved_bytes(const Tensor *scale, GpuSupportScales scales)
{
    const int64_t rows = plan_rows(scale), cols = plan_width(scale);
    const bool squares = scales == GPU_SUPPORT_SCALES_SQUARES;
    if (!squares && scales != GPU_SUPPORT_SCALES_BLOCKS) return 0;
    const int64_t step = squares ? gpu_support_fp8_square_step(cols) : cols;
    const bool as_stored = squares ? step == cols : cols == 1;
    if (as_stored && scale->offset % 4 == 0) return 0; /* it begins at a multiple of 16 bytes */
    return (size_t)i64_round_up(rows * step * (int64_t)sizeof(float), 256);
}

size_t gpu_support_fp8_workspace_scaled_matmul(const Plan *plan, const Node *node, int threads)
{
    const GpuSupportScalePair pair = gpu_support_fp8_pair(plan, node);
    (void)threads;
    return GPU_SUPPORT_CUBLASLT +
           gpu_support_fp8_moved_bytes(plan_in(plan, node, SCALED_MATMUL_IN_SCALE_A), pair.a) +
           gpu_support_fp8_moved_bytes(plan_in(plan, node, SCALED_MATMUL_IN_SCALE_B), pair.b);
}

static bool is_whole(const Tensor *t)
{
    enum { BYTES = 16 };
    const int64_t size = (int64_t)plan_dtype_size(t->dtype);
    return plan_rows(t) % 16 == 0 && plan_width(t) % 16 == 0 && t->ld * size % BYTES == 0 &&
           t->offset * size % BYTES == 0;
}

static const char *declines_chip(GpuSupportScalePair pair)
{
    const int chip = backend_api(BACKEND_cuda)->capability(0);
    if (chip > 0 && chip < GPU_SUPPORT_FP8_CAPABILITY)
        return "it needs a GPU of compute capability 8.9 or more";
    if (chip > 0 && chip != GPU_SUPPORT_FP8_ROWS_CAPABILITY && pair.a != GPU_SUPPORT_SCALES_TENSOR)
        return "cuBLASLt has scales of rows and blocks on compute capability 9.0 alone";
    return NULL;
}

const char *gpu_support_fp8_declines_scaled_matmul(const Plan *plan, const Node *node)
{
    const Tensor *c = plan_out(plan, node, 0);
    const Tensor *bias = plan_in(plan, node, SCALED_MATMUL_IN_BIAS);
    const GpuSupportScalePair pair = gpu_support_fp8_pair(plan, node);
    if (!is_whole(c) || !is_whole(plan_in(plan, node, 0)) || !is_whole(plan_in(plan, node, 1)))
        return "cuBLASLt multiplies 8-bit floats in multiples of 16";
    if (c->dtype != DT_F32 && c->dtype != DT_BF16 && c->dtype != DT_F16)
        return "it writes fp32, bf16 and fp16";
    if (bias && (bias->dtype != c->dtype || c->dtype == DT_F32))
        return "beside 8-bit operands cuBLASLt adds a bias of a 16-bit output's dtype";
    if (bias && node->attr.accumulate)
        return "it adds a bias or to its output, not both"; /* no step has such a product */
    if (pair.a == GPU_SUPPORT_SCALES_NONE ||
        !plan_contiguous(plan_in(plan, node, SCALED_MATMUL_IN_SCALE_A)) ||
        !plan_contiguous(plan_in(plan, node, SCALED_MATMUL_IN_SCALE_B)))
        return "cuBLASLt has no such pair of scales";
    return declines_chip(pair);
}

const char *gpu_support_fp8_library_lacks(GpuSupportScalePair pair, size_t version)
{
    enum { VERSION = 120900 };
    if (pair.a == GPU_SUPPORT_SCALES_TENSOR || version >= VERSION) return NULL;
    return "scales of rows and blocks need cuBLASLt 12.9 or newer";
}
