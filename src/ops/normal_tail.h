/* The tail of the normal distribution, for float code on a CPU and on a GPU.
 *
 * For x >= 0, z = x / sqrt(2) and t = 1 / (1 + z / 2): erfc(z) = t exp(p(t) - z^2), with p the polynomial
 * of degree 9 through ln(erfc(z) / t) + z^2 at Chebyshev's nodes of t from 0.17 to 1 (error 5e-8). */
#pragma once

#ifdef __CUDACC__
#define NORMAL_TAIL_FUNCTION static __device__ __forceinline__
#else
#define NORMAL_TAIL_FUNCTION static inline
#endif

NORMAL_TAIL_FUNCTION float normal_tail_polynomial(float t)
{
    float p = 0.145856019F;
    p = p * t - 0.68564542F;
    p = p * t + 1.16744059F;
    p = p * t - 0.709498158F;
    p = p * t - 0.0703099362F;
    p = p * t - 0.00341416175F;
    p = p * t + 0.0359522582F;
    p = p * t + 0.386415951F;
    p = p * t + 0.998651425F;
    return p * t - 1.26544852F;
}
