/* exp and what is made of it for float loops: straight code that a compiler turns into vectors. */
#pragma once

#include "base/float16.h"
#include "ops/normal_tail.h"

/* e^x to 2 units in the last place; 0 below the normal numbers, infinity above them, NaN from NaN.
 *
 * x = n ln 2 + r with |r| <= ln(2) / 2, and e^x = 2^n (1 + r + r^2 p(r)); p is the polynomial of
 * degree 4 with the least relative error of e^r (2^-28), in an order that lets its parts overlap.
 * The limits are applied last: a compiler that sees x bounded first follows each bound on a path of
 * its own, and the loop takes twice the time. */
static inline float vector_math_exp(float x)
{
    const float low = -0x1.5d589ep6F, high = 0x1.62e42ep6F; /* within ln 2^-126 and ln 2^128 */
    const float magic =
        0x1.8p23F; /* adding it rounds to an integer and leaves that in the low bits */
    const float shifted = x * 0x1.715476p0F + magic;
    const float n = shifted - magic;
    const float r = (x - n * 0x1.62ep-1F) - n * 0x1.0bfbe8p-15F; /* ln 2 in two parts */
    const float rr = r * r;
    const float head = 0x1.fffffcp-2F + 0x1.555492p-3F * r;
    const float tail = (0x1.5558f2p-5F + 0x1.123a2p-7F * r) + 0x1.6a23cep-10F * rr;
    const float q = (head + tail * rr) * rr + r + 1.0F;
    const uint32_t power = float16_bits(q) + (float16_bits(shifted) << 23); /* 2^n q */
    /* among negative numbers, the lower has the larger bits */
    const uint32_t raised = float16_bits(x) > float16_bits(low) ? 0U : power;
    const uint32_t beyond = float16_bits(x * float16_from_bits(0x7f800000U)); /* infinity, or NaN */
    /* as a mask: of a choice gcc 12 makes three comparisons, because of NaN */
    const uint32_t within = -(uint32_t)(x <= high);
    return float16_from_bits((raised & within) | (beyond & ~within));
}

static inline float vector_math_sigmoid(float x)
{
    return 1.0F / (1.0F + vector_math_exp(-x));
}

/* The distribution function of the normal distribution, 1 - erfc(x / sqrt(2)) / 2, within 2.5e-7,
 * and 1e-5 of its value on both sides (ops/normal_tail.h). */
static inline float vector_math_normal_distribution(float x)
{
    const float magnitude = x < 0 ? -x : x, z = magnitude * 0.707106781F;
    const float t = 1.0F / (1.0F + 0.5F * z);
    const float tail = 0.5F * t * vector_math_exp(normal_tail_polynomial(t) - 0.5F * x * x);
    return x < 0 ? tail : 1.0F - tail;
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
