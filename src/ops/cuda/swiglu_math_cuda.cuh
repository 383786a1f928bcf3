/* The gate of one element, for the kernels that compute it (ops/swiglu.c has the formulas). */
#pragma once

/* Within 1e-5 of the exact value: the fast exp is off by less than 2e-7 + 1e-7 |x|, and where
 * |x| > 87 the result is 0 or 1 in float anyway. */
__device__ __forceinline__ float sigmoid(float x)
{
    return __fdividef(1.0F, 1.0F + __expf(-x));
}

__device__ __forceinline__ float swiglu_gate(float h1, float h3)
{
    return h3 * (h1 * sigmoid(h1));
}

/* (h1, h3, dg) become (dh1, dh3, g). */
__device__ __forceinline__ void swiglu_gradient(float &h1, float &h3, float &dg)
{
    const float x = h1, s = sigmoid(x), flow = dg * s;
    dg = h3 * (x * s);
    h1 = flow * h3 * (1.0F + x * (1.0F - s));
    h3 = flow * x;
}
