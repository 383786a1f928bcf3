#include "ops/cpu/impls_cpu.h"
#include "ops/cpu/operand_cpu.h"
#include "ops/visible_keys.h"

#include <math.h>
#include <string.h>

CPU_CLONES static void fill32(float *x, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++) x[i] = value;
}

CPU_CLONES static void fill16(uint16_t *x, int64_t n, uint16_t value)
{
    for (int64_t i = 0; i < n; i++) x[i] = value;
}

static void fill(Operand y, int64_t row, int64_t first, int64_t end, float value)
{
    void *to = operand_cpu_at(y, row, first);
    if (y.dtype == DT_F32) {
        fill32(to, end - first, value);
    } else {
        uint16_t bits = 0;
        rows_cpu_store(&bits, &value, y.dtype, 1);
        fill16(to, end - first, bits);
    }
}

static void mask_row(Operand y, Operand x, int64_t row, const NodeAttr *attr, float hidden)
{
    const int64_t end = row % x.cols + 1, first = visible_keys_first(attr, end - 1);
    void *to = operand_cpu_at(y, row, first);
    const void *from = operand_cpu_at(x, row, first);
    if (to != from) memcpy(to, from, (size_t)(end - first) * plan_dtype_size(y.dtype));
    if (first > 0) fill(y, row, 0, first, hidden);
    fill(y, row, end, x.cols, hidden);
}

static void mask_rows(const void *data, int64_t first, int64_t last, int thread)
{
    const OpCall *call = data;
    const Operand y = element_out(call, 0), x = element_in(call, 0);
    const float hidden = call->node->attr.inverse ? 0 : -INFINITY;
    (void)thread;
    for (int64_t i = first; i < last; i++) mask_row(y, x, i, &call->node->attr, hidden);
}

static const char *declines(const Plan *plan, const Node *node)
{
    if (plan_in(plan, node, 0)->dtype != plan_out(plan, node, 0)->dtype)
        return "x and y differ in dtype";
    return rows_cpu_declines_f64(plan, node);
}

const OpImpl causal_mask_cpu[] = {
    {.name = "causal_mask_cpu", .declines = declines, .rows = mask_rows}, {0}};
