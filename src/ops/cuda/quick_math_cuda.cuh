/* Functions that are one instruction of a GPU, for where the library's would take longer than the
 * memory they work on. */
#pragma once

/* 2^x, within 2 units in the last place; 2^-inf = 0. Denormal numbers are 0. */
__device__ __forceinline__ float quick_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* 1 / x, within 1 unit in the last place; of infinity 0. Denormal numbers are 0. */
__device__ __forceinline__ float quick_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
