/* The 8-bit floats of matrix multiplications as bits, as GPUs have them: e4m3 (largest 448, no infinity) and
 * e5m2 (largest 57344). Rounded to nearest even; what is too large becomes the largest number, infinities
 * too; NaN stays NaN. */
#pragma once

#include "base/float16.h"

#include <stdbool.h>

typedef struct Float8 {
    int mantissa, bias; /* bits, and of the exponent */
    uint32_t largest;   /* the code of the largest number */
} Float8;

#define FLOAT8_E4M3 ((Float8){3, 7, 0x7e})
#define FLOAT8_E5M2 ((Float8){2, 15, 0x7b})

/* The smallest number above zero. */
static inline float float8_step(Float8 f)
{
    return float16_from_bits((uint32_t)(127 + 1 - f.bias - f.mantissa) << 23);
}

static inline uint8_t float8_to(Float8 f, float x)
{
    const uint32_t u = float16_bits(x), sign = u >> 24 & 0x80U, size = u & 0x7fffffffU;
    const int cut = 23 - f.mantissa;
    if (size > 0x7f800000U) return (uint8_t)(sign | 0x7fU);
    uint32_t code;
    if (size < (uint32_t)(128 - f.bias) << 23) { /* subnormal: adding this rounds to whole steps */
        const float whole = float8_step(f) * 0x1p23F;
        code = float16_bits(float16_from_bits(size) + whole) - float16_bits(whole);
    } else {
        const uint32_t half = (1U << (cut - 1)) - 1 + (size >> cut & 1U);
        code = ((size + half) >> cut) - ((uint32_t)(127 - f.bias) << f.mantissa);
    }
    return (uint8_t)(sign | (code > f.largest ? f.largest : code));
}

static inline float float8_from(Float8 f, uint8_t h)
{
    const uint32_t code = h & 0x7fU, sign = (uint32_t)(h & 0x80U) << 24;
    const uint32_t normal = (code << (23 - f.mantissa)) + ((uint32_t)(127 - f.bias) << 23);
    const uint32_t tiny = float16_bits((float)code * float8_step(f));
    const bool infinite = code == 0x7cU && f.mantissa == 2;
    const uint32_t beyond = infinite ? 0x7f800000U : 0x7fc00000U;
    const uint32_t size = code > f.largest ? beyond : code >> f.mantissa ? normal : tiny;
    return float16_from_bits(sign | size);
}

static inline float float8_largest(Float8 f)
{
    return float8_from(f, (uint8_t)f.largest);
}
