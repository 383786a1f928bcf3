/* What quantize does to numbers, for its reference and its implementations: to the same bits. Ops that
 * quantize what they make have the operands of quantize beside their own. */
#pragma once

#include "base/float8.h"
#include "plan/plan.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Outputs: the numbers as they are stored and transposed, each with scales; either pair may be absent. */
enum {
    QUANTIZE_OUT_Q,
    QUANTIZE_OUT_SCALE,
    QUANTIZE_OUT_TRANSPOSED,
    QUANTIZE_OUT_TRANSPOSED_SCALE,
    QUANTIZE_OUT_AMAX,
    QUANTIZE_OUTS
};
enum { QUANTIZE_IN_X, QUANTIZE_IN_RECENT, QUANTIZE_IN_AMAX };

/* What the numbers are to the products that read them: NodeAttr.fn, for those who report. */
typedef enum QuantizeClass {
    QUANTIZE_ACTIVATIONS,
    QUANTIZE_WEIGHTS,
    QUANTIZE_GRADIENTS,
    QUANTIZE_CLASSES
} QuantizeClass;

static inline const char *quantize_class_name(QuantizeClass of)
{
    return of == QUANTIZE_ACTIVATIONS ? "activations"
           : of == QUANTIZE_WEIGHTS   ? "weights"
                                      : "gradients";
}

/* A tensor that a node quantizes: its outputs begin at `out`, and inputs `recent` and the next are its
 * own. */
typedef struct QuantizePlace {
    int out, recent;
    QuantizeClass class_of;
} QuantizePlace;

enum { QUANTIZE_PLACES = 2 };

/* The tensors that the node quantizes; of most ops there are none. */
int quantize_places(const Node *node, QuantizePlace place[QUANTIZE_PLACES]);

/* Rows or columns that share a scale where neither one nor all of them do. */
enum { QUANTIZE_BLOCK = 128 };

/* How many of `size` rows (columns) share a scale where there are `scales` of them. */
static inline int64_t quantize_block(int64_t size, int64_t scales)
{
    return scales == 1 ? size : scales == size ? 1 : QUANTIZE_BLOCK;
}

/* `scales` is a number of scales that `size` rows (columns) may have. */
static inline bool quantize_divides(int64_t size, int64_t scales)
{
    return scales == 1 || scales == size || scales == (size + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK;
}

static inline Float8 quantize_format(DType dtype)
{
    return dtype == DT_E4M3 ? FLOAT8_E4M3 : FLOAT8_E5M2;
}

/* The larger size; with a NaN among the numbers it is NaN. */
static inline float quantize_larger(float amax, float x)
{
    const float size = fabsf(x);
    return isnan(amax) || size <= amax ? amax : size;
}

/* Numbers are multiplied by it, so that the largest becomes the format's largest. */
static inline float quantize_factor(Float8 format, float amax)
{
    const float most = 0x1p126F, factor = float8_largest(format) / amax;
    if (!isfinite(amax)) return NAN;
    return amax > 0 ? fminf(factor, most) : 1;
}

#ifdef __cplusplus
}
#endif
