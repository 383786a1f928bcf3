/* Numbers as 8-bit floats with scales: one for all of them, for each row, or for each block.
 *
 * quantize  q, scale, qt, scale_t, amax | x, recent, amax
 *
 * q = round(x / scale), scale = max |x| / (largest number of q's dtype), of the numbers that share it.
 * The shape of `scale` says which do: for each dimension of x it has one, as many as x has, or one for each
 * 128 (quantize_block()). Scales are factors to multiply q by, in fp32. Zeros have scale 1. With an
 * infinity or a NaN among them numbers become NaN: nothing is clipped in silence.
 * qt, scale_t: the same of x transposed. Matrix multiplications of 8-bit floats read both operands along k.
 * recent: the largest size in earlier steps (ops/fp8/amax_history.c), which gives the scale in place of
 * max |x|; what is beyond it is clipped. amax: becomes max |x| where that is larger, infinities and NaN
 * too. */
#include "ops/fp8/quantize_place.h"
#include "ops/op_check.h"

static Status check_pair(const Plan *plan, const Node *node, int first, int64_t rows, int64_t cols)
{
    const Tensor *q = plan_out(plan, node, first), *scale = plan_out(plan, node, first + 1);
    if (!q && !scale) return ST_OK;
    if (!q || !scale) return FAIL(ST_FAILED, "%s: numbers without scales", node->scope);
    TRY(op_check_dtype(node, "scale", scale, DT_F32));
    if (plan_rows(q) == rows && plan_width(q) == cols && quantize_divides(rows, plan_rows(scale)) &&
        quantize_divides(cols, plan_width(scale)) && plan_contiguous(q) && plan_contiguous(scale) &&
        plan_dtype_size(q->dtype) == 1)
        return ST_OK;
    return FAIL(ST_FAILED, "%s: no %s %lld x %lld with scales %lld x %lld", node->scope,
                plan_dtype_name(q->dtype), (long long)plan_rows(q), (long long)plan_width(q),
                (long long)plan_rows(scale), (long long)plan_width(scale));
}

int quantize_places(const Node *node, QuantizePlace place[QUANTIZE_PLACES])
{
    switch ((int)node->op) {
    case OP_quantize:
        place[0] = (QuantizePlace){0, QUANTIZE_IN_RECENT, (QuantizeClass)node->attr.fn};
        return 1;
    case OP_swiglu_fp8:
        place[0] = (QuantizePlace){0, 1, QUANTIZE_ACTIVATIONS};
        return 1;
    case OP_swiglu_fp8_grad:
        place[0] = (QuantizePlace){0, 2, QUANTIZE_GRADIENTS};
        place[1] = (QuantizePlace){QUANTIZE_OUTS, 4, QUANTIZE_ACTIVATIONS};
        return node->n_out > QUANTIZE_OUTS ? 2 : 1;
    default:
        return 0;
    }
}

Status quantize_place_check(const Plan *plan, const Node *node, const QuantizePlace *place,
                            int64_t rows, int64_t cols)
{
    const int q = place->out + QUANTIZE_OUT_Q, qt = place->out + QUANTIZE_OUT_TRANSPOSED;
    const Tensor *recent = plan_in(plan, node, place->recent);
    const Tensor *amax = plan_out(plan, node, place->out + QUANTIZE_OUT_AMAX);
    TRY(check_pair(plan, node, q, rows, cols));
    TRY(check_pair(plan, node, qt, cols, rows));
    if (recent) TRY(op_check_elements(node, "recent", recent, 1));
    if (amax) TRY(op_check_elements(node, "amax", amax, 1));
    if (plan_in_id(plan, node, place->recent + 1) !=
        plan_out_id(plan, node, place->out + QUANTIZE_OUT_AMAX))
        return FAIL(ST_FAILED, "%s: amax is not updated in place", node->scope);
    if (plan_out(plan, node, q) || plan_out(plan, node, qt)) return ST_OK;
    return FAIL(ST_FAILED, "%s: quantizes to nothing", node->scope);
}

static Status check(const Plan *plan, const Node *node)
{
    const Tensor *x = plan_in(plan, node, QUANTIZE_IN_X);
    QuantizePlace place[QUANTIZE_PLACES];
    quantize_places(node, place);
    TRY(op_check_present(plan, node, 0, 1));
    return quantize_place_check(plan, node, place, plan_rows(x), plan_width(x));
}

static float element(Operand x, bool transposed, int64_t r, int64_t c)
{
    return (float)(transposed ? at(x, c, r) : at(x, r, c));
}

typedef struct Block {
    int64_t row, end_row, col, end_col;
} Block;

static float block_amax(Operand x, bool transposed, Block b)
{
    float amax = 0;
    for (int64_t r = b.row; r < b.end_row; r++) {
        for (int64_t c = b.col; c < b.end_col; c++)
            amax = quantize_larger(amax, element(x, transposed, r, c));
    }
    return amax;
}

static void round_block(Operand q, Operand x, bool transposed, Block b, float factor)
{
    for (int64_t r = b.row; r < b.end_row; r++) {
        for (int64_t c = b.col; c < b.end_col; c++)
            put(q, r, c, (double)(element(x, transposed, r, c) * factor));
    }
}

static int64_t end_of(int64_t first, int64_t block, int64_t size)
{
    return first + block < size ? first + block : size;
}

static void reference_pair(Operand q, Operand scale, Operand x, bool transposed, Operand recent)
{
    if (!q.data) return;
    const int64_t height = quantize_block(q.rows, scale.rows);
    const int64_t width = quantize_block(q.cols, scale.cols);
    for (int64_t r = 0; r < scale.rows; r++) {
        for (int64_t c = 0; c < scale.cols; c++) {
            const Block b = {r * height, end_of(r * height, height, q.rows), c * width,
                             end_of(c * width, width, q.cols)};
            const float amax = recent.data ? (float)at(recent, 0, 0) : block_amax(x, transposed, b);
            const float factor = quantize_factor(quantize_format(q.dtype), amax);
            round_block(q, x, transposed, b, factor);
            put(scale, r, c, (double)(1 / factor));
        }
    }
}

void quantize_place_reference(const OpCall *call, const QuantizePlace *place, Operand x)
{
    const Operand recent = element_in(call, place->recent);
    const Operand amax = element_out(call, place->out + QUANTIZE_OUT_AMAX);
    reference_pair(element_out(call, place->out + QUANTIZE_OUT_Q),
                   element_out(call, place->out + QUANTIZE_OUT_SCALE), x, false, recent);
    reference_pair(element_out(call, place->out + QUANTIZE_OUT_TRANSPOSED),
                   element_out(call, place->out + QUANTIZE_OUT_TRANSPOSED_SCALE), x, true, recent);
    if (!amax.data) return;
    const float largest = block_amax(x, false, (Block){0, x.rows, 0, x.cols});
    put(amax, 0, 0, (double)quantize_larger((float)at(amax, 0, 0), largest));
}

static Status reference(const OpCall *call)
{
    QuantizePlace place[QUANTIZE_PLACES];
    quantize_places(call->node, place);
    quantize_place_reference(call, place, element_in(call, QUANTIZE_IN_X));
    return ST_OK;
}

const OpDef quantize_def = {OP_SOURCE, .check = check,
                            .out_role = {DTYPE_OPERAND, DTYPE_SCALE, DTYPE_OPERAND, DTYPE_SCALE},
                            .reference = reference};
