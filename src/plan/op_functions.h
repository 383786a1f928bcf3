/* The functions that the families of primitive ops (NodeAttr.fn) compute.
 *
 * unary      y = f(x)                      scale and shift of the node are s and c
 * binary     z = f(x, y); y repeats when it is smaller than x (see ops/binary.c)
 * reduce     over the last axis (rows) or over all rows (columns) */
#pragma once

#include <stdbool.h>

typedef enum UnaryFn {
    FN_AFFINE, /* s x + c */
    FN_SQUARE,
    FN_EXP,
    FN_LOG,
    FN_RSQRT,
    FN_SILU,
    FN_GELU_TANH, /* x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
    FN_GELU_ERF,  /* x times the normal distribution function of x */
} UnaryFn;

typedef enum BinaryFn {
    FN_ADD,
    FN_SUB,
    FN_MUL,
    FN_DIV,
} BinaryFn;

typedef enum ReduceFn {
    FN_ROW_SUM,  /* [R, W] -> [R, 1] */
    FN_ROW_MAX,  /* [R, W] -> [R, 1]; no gradient: used only where it cancels */
    FN_ROW_MEAN, /* [R, W] -> [R, 1] */
    FN_COL_SUM,  /* [R, W] -> [W] */
} ReduceFn;

/* The output of swiglu_grad that is g once more. */
enum { SWIGLU_GRAD_G = 2 };

/* The primitives PyTorch's single-tensor AdamW launches, in its order; each updates one tensor.
 * The step-dependent factors come from the step state (ops/adam_state.c). */
typedef enum AdamwPart {
    FN_DECAY,    /* p = p (1 - lr wd) */
    FN_MOMENT1,  /* m = m + (g - m)(1 - beta1) */
    FN_MOMENT2A, /* v = v beta2 */
    FN_MOMENT2B, /* v = v + g g (1 - beta2) */
    FN_ROOT,     /* d = sqrt(v) */
    FN_BIAS,     /* d = d / sqrt(1 - beta2^t) */
    FN_EPSILON,  /* d = d + eps */
    FN_UPDATE,   /* p = p - lr / (1 - beta1^t) m / d */
} AdamwPart;

/* The others write d, a tensor of its own. */
static inline bool op_functions_in_place(int part)
{
    return part != FN_ROOT && part != FN_BIAS && part != FN_EPSILON;
}
