/* One element of a tensor of any dtype, as a double: what the references are written with. */
#pragma once

#include "base/float8.h"
#include "ops/op.h"

static inline double element_get(const void *data, DType dtype, int64_t i)
{
    switch (dtype) {
    case DT_F32:
        return (double)((const float *)data)[i];
    case DT_BF16:
        return (double)float16_from_bf16(((const uint16_t *)data)[i]);
    case DT_F16:
        return (double)float16_from_f16(((const uint16_t *)data)[i]);
    case DT_F64:
        return ((const double *)data)[i];
    case DT_I32:
        return (double)((const int32_t *)data)[i];
    case DT_E4M3:
        return (double)float8_from(FLOAT8_E4M3, ((const uint8_t *)data)[i]);
    case DT_E5M2:
        return (double)float8_from(FLOAT8_E5M2, ((const uint8_t *)data)[i]);
    case DT_LOW16: /* alone it is no number: float16_join() */
    case DT_COUNT:
        break;
    }
    plan_dtype_unknown(dtype, "element_get()");
}

static inline void element_set(void *data, DType dtype, int64_t i, double x)
{
    switch (dtype) {
    case DT_F32:
        ((float *)data)[i] = (float)x;
        return;
    case DT_BF16:
        ((uint16_t *)data)[i] = float16_to_bf16((float)x);
        return;
    case DT_F16:
        ((uint16_t *)data)[i] = float16_to_f16((float)x);
        return;
    case DT_F64:
        ((double *)data)[i] = x;
        return;
    case DT_I32:
        ((int32_t *)data)[i] = (int32_t)x;
        return;
    case DT_E4M3:
        ((uint8_t *)data)[i] = float8_to(FLOAT8_E4M3, (float)x);
        return;
    case DT_E5M2:
        ((uint8_t *)data)[i] = float8_to(FLOAT8_E5M2, (float)x);
        return;
    case DT_LOW16:
        ((uint16_t *)data)[i] = float16_lower((float)x);
        return;
    case DT_COUNT:
        break;
    }
    plan_dtype_unknown(dtype, "element_set()");
}

/* An operand with its shape: element (row, col) honours the row distance of views. */
typedef struct Operand {
    void *data;
    DType dtype;
    int64_t rows, cols, ld;
} Operand;

static inline Operand element_operand(void *data, const Tensor *t)
{
    if (!t) return (Operand){0};
    return (Operand){data, t->dtype, plan_rows(t), plan_width(t), t->ld};
}

static inline Operand element_out(const OpCall *call, int i)
{
    return element_operand(op_out(call, i), op_out_shape(call, i));
}

static inline Operand element_in(const OpCall *call, int i)
{
    const int id = plan_in_id(call->plan, call->node, i);
    return id == PLAN_NONE ? (Operand){0} : element_operand(call->memory[id], op_in_shape(call, i));
}

static inline double at(Operand x, int64_t row, int64_t col)
{
    return element_get(x.data, x.dtype, row * x.ld + col);
}

static inline void put(Operand x, int64_t row, int64_t col, double value)
{
    element_set(x.data, x.dtype, row * x.ld + col, value);
}
