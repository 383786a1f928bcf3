/* Matrix product of 8-bit floats with scales: c = (scale_a a) (scale_b b)^T + bias.
 *
 * scaled_matmul  c | a, b, scale_a, scale_b, bias, c
 *
 * a: [m, k], b: [n, k], both e4m3 or one of them e5m2, with scales as quantize makes them: for each dimension
 * one, as many as it has, or one for each 128. Sums are at least fp32. It takes the place of matmuls when
 * the backward pass is there (model/transform_fp8.c), and so has no gradient of its own. */
#include "ops/fp8/scaled_matmul.h"

#include "ops/element.h"
#include "ops/fp8/quantize.h"
#include "ops/matmul.h"
#include "ops/op_check.h"

static Status check_scale(const Node *node, const char *name, const Tensor *x, const Tensor *scale)
{
    TRY(op_check_dtype(node, name, scale, DT_F32));
    if (quantize_divides(plan_rows(x), plan_rows(scale)) &&
        quantize_divides(plan_width(x), plan_width(scale)))
        return ST_OK;
    return FAIL(ST_FAILED, "%s: %s is %lld x %lld", node->scope, name, (long long)plan_rows(scale),
                (long long)plan_width(scale));
}

static Status check(const Plan *plan, const Node *node)
{
    TRY(op_check_present(plan, node, 1, 4));
    const Tensor *a = plan_in(plan, node, 0), *b = plan_in(plan, node, 1);
    const bool narrow = plan_dtype_size(a->dtype) == 1 && plan_dtype_size(b->dtype) == 1;
    if (!narrow || (a->dtype == DT_E5M2 && b->dtype == DT_E5M2))
        return FAIL(ST_FAILED, "%s: no product of %s and %s", node->scope,
                    plan_dtype_name(a->dtype), plan_dtype_name(b->dtype));
    if (node->attr.transpose_a || !node->attr.transpose_b)
        return FAIL(ST_FAILED, "%s: 8-bit operands lie along k", node->scope);
    TRY(check_scale(node, "scale_a", a, plan_in(plan, node, SCALED_MATMUL_IN_SCALE_A)));
    TRY(check_scale(node, "scale_b", b, plan_in(plan, node, SCALED_MATMUL_IN_SCALE_B)));
    return matmul_check(plan, node, SCALED_MATMUL_IN_BIAS, SCALED_MATMUL_IN_C);
}

static double scaled(Operand x, Operand scale, int64_t row, int64_t col)
{
    const int64_t r = row / quantize_block(x.rows, scale.rows);
    return at(x, row, col) * at(scale, r, col / quantize_block(x.cols, scale.cols));
}

static Status reference(const OpCall *call)
{
    const Operand c = element_out(call, 0), a = element_in(call, 0), b = element_in(call, 1);
    const Operand scale_a = element_in(call, SCALED_MATMUL_IN_SCALE_A);
    const Operand scale_b = element_in(call, SCALED_MATMUL_IN_SCALE_B);
    const Operand bias = element_in(call, SCALED_MATMUL_IN_BIAS);
    for (int64_t i = 0; i < c.rows; i++) {
        for (int64_t j = 0; j < c.cols; j++) {
            double sum =
                (call->node->attr.accumulate ? at(c, i, j) : 0) + (bias.data ? at(bias, 0, j) : 0);
            for (int64_t k = 0; k < a.cols; k++)
                sum += scaled(a, scale_a, i, k) * scaled(b, scale_b, j, k);
            put(c, i, j, sum);
        }
    }
    return ST_OK;
}

const OpDef scaled_matmul_def = {
    OP_SOURCE, .check = check, .in_role = {DTYPE_OPERAND, DTYPE_OPERAND, DTYPE_SCALE, DTYPE_SCALE},
    .cost = matmul_cost, .reference = reference};
