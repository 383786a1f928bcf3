/* bf16 and fp16 as bits, rounded to nearest even; NaN stays NaN. */
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint32_t float16_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float float16_from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline float float16_from_bf16(uint16_t h)
{
    return float16_from_bits((uint32_t)h << 16);
}

/* Branch-free, so that a loop over it vectorises. */
static inline uint16_t float16_to_bf16(float x)
{
    const uint32_t u = float16_bits(x);
    const uint32_t rounded = (u + 0x7fffU + ((u >> 16) & 1U)) >> 16;
    const uint32_t nan = (u >> 16) | 0x40U;
    return (uint16_t)((u & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

/* A float in two halves that lose nothing: the upper one is the float rounded to bf16, halves away from zero,
 * and so can be read alone; the lower one is what that is off by, in units of the float's last place. A NaN
 * becomes the plain one. */
static inline float float16_join(uint16_t upper, uint16_t lower)
{
    return float16_from_bits(((uint32_t)upper << 16) + (uint32_t)(int32_t)(int16_t)lower);
}

static inline uint32_t float16_quiet_nan(uint32_t u)
{
    return (u & 0x7fffffffU) > 0x7f800000U ? 0x7fc00000U : u;
}

static inline uint16_t float16_upper(float x)
{
    return (uint16_t)((float16_quiet_nan(float16_bits(x)) + 0x8000U) >> 16);
}

static inline uint16_t float16_lower(float x)
{
    return (uint16_t)float16_quiet_nan(float16_bits(x));
}

#ifdef __FLT16_MANT_DIG__ /* the compiler has the type, and the hardware's conversions with it */
__extension__ typedef _Float16 Float16Native;

static inline float float16_from_f16(uint16_t h)
{
    Float16Native x;
    memcpy(&x, &h, sizeof x);
    return (float)x;
}

static inline uint16_t float16_to_f16(float x)
{
    const Float16Native h = (Float16Native)x;
    uint16_t u;
    memcpy(&u, &h, sizeof u);
    return u;
}
#else
static inline float float16_from_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000U) << 16, magnitude = h & 0x7fffU;
    if (magnitude >= 0x7c00U)
        return float16_from_bits(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
    /* 2^112 moves the exponent bias; the product also makes denormals right */
    return float16_from_bits(float16_bits(float16_from_bits(magnitude << 13) * 0x1p112F) | sign);
}

static inline uint16_t float16_to_f16(float x)
{
    const uint32_t u = float16_bits(x), sign = (u >> 16) & 0x8000U, magnitude = u & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return (uint16_t)(sign | 0x7e00U);
    if (magnitude >= 0x477ff000U) return (uint16_t)(sign | 0x7c00U); /* rounds to infinity */
    if (magnitude < 0x38800000U) { /* denormal: adding 0.5 leaves its bits at the bottom */
        const uint32_t d = float16_bits(float16_from_bits(magnitude) + 0.5F) - float16_bits(0.5F);
        return (uint16_t)(sign | d);
    }
    const uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U;
    return (uint16_t)(sign | rounded >> 13);
}
#endif
