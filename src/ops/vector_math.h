/* exp and what is made of it for float loops: straight code that a compiler turns into vectors. */
#ifndef OPS_VECTOR_MATH_H
#define OPS_VECTOR_MATH_H

#include "base/half.h"

/* e^x to 2 units in the last place, results below the normal numbers, 0, infinity and NaN included.
 *
 * x = n ln 2 + r with |r| <= ln(2) / 2, and e^x = 2^n (1 + r + r^2 p(r)); p is the polynomial of
 * degree 4 with the least relative error of e^r (2^-28). 2^n is applied in two halves, so that both
 * are normal numbers wherever the result is a number at all. */
static inline float vector_math_exp(float x)
{
    const float low = -104.0F, high = 89.0F; /* beyond them the result is 0 and infinity */
    const float magic = 0x1.8p23F;           /* adding it rounds to an integer, in the low bits */
    x = x < low ? low : x;
    x = x > high ? high : x;
    const float shifted = x * 0x1.715476p0F + magic;
    const float n = shifted - magic;
    const float r = (x - n * 0x1.62ep-1F) - n * 0x1.0bfbe8p-15F; /* ln 2 in two parts */
    float p = 0x1.6a23cep-10F;
    p = p * r + 0x1.123a2p-7F;
    p = p * r + 0x1.5558f2p-5F;
    p = p * r + 0x1.555492p-3F;
    p = p * r + 0x1.fffffcp-2F;
    p = p * (r * r) + r + 1.0F;
    const int32_t exponent = (int32_t)(half_bits(shifted) - half_bits(magic));
    const int32_t half = exponent >> 1;
    const float a = half_float((uint32_t)(half + 127) << 23);
    const float b = half_float((uint32_t)(exponent - half + 127) << 23);
    return p * a * b;
}

static inline float vector_math_sigmoid(float x)
{
    return 1.0F / (1.0F + vector_math_exp(-x));
}

enum { VECTOR_MATH_LANES = 16 }; /* maxima kept side by side, so that they are vectors */

/* The largest of n numbers and `max`; NaN is passed over. */
static inline float vector_math_max(const float *x, int64_t n, float max)
{
    float lane[VECTOR_MATH_LANES];
    int64_t i = 0;
    for (int k = 0; k < VECTOR_MATH_LANES; k++) lane[k] = max;
    for (; i + VECTOR_MATH_LANES <= n; i += VECTOR_MATH_LANES) {
#pragma omp simd
        for (int k = 0; k < VECTOR_MATH_LANES; k++)
            lane[k] = x[i + k] > lane[k] ? x[i + k] : lane[k];
    }
    for (; i < n; i++) max = x[i] > max ? x[i] : max;
    for (int k = 0; k < VECTOR_MATH_LANES; k++) max = lane[k] > max ? lane[k] : max;
    return max;
}

#endif
