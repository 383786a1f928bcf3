/* How numbers in the registers of a block become 8-bit floats in memory, as they lie and transposed,
 * to the bits of ops/fp8/quantize.h. A thread has HIGH rows of WIDE columns. */
#pragma once

#include "ops/fp8_cuda/quantize_tile_cuda.cuh"

#include <cuda_fp8.h>

/* quantize_factor(); division to nearest, as there. */
template <bool E5M2> __device__ __forceinline__ float factor_for(float amax)
{
    constexpr float largest = E5M2 ? 57344 : 448, most = 0x1p126F;
    if (!isfinite(amax)) return __uint_as_float(0x7fc00000U);
    return amax > 0 ? fminf(__fdiv_rn(largest, amax), most) : 1;
}

/* To nearest even, what is too large to the largest, infinities too, NaN to 0x7f: as float8_to(). */
template <bool E5M2> __device__ __forceinline__ unsigned narrow(float a, float b, float c, float d)
{
    constexpr __nv_fp8_interpretation_t format = E5M2 ? __NV_E5M2 : __NV_E4M3;
    const unsigned low = __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, format);
    const unsigned high = __nv_cvt_float2_to_fp8x2(make_float2(c, d), __NV_SATFINITE, format);
    return low | high << 16;
}

template <bool E5M2> __device__ __forceinline__ unsigned narrow_by(const float *x, float factor)
{
    return narrow<E5M2>(__fmul_rn(x[0], factor), __fmul_rn(x[1], factor), __fmul_rn(x[2], factor),
                        __fmul_rn(x[3], factor));
}
