/* How kernels read and write elements: converted to float and back, one at a time with a dtype that
 * is known only when the kernel runs (Operand), or several of one type in one access of 8 or 16
 * bytes (Vector). */
#pragma once

#include "plan/plan.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* ---- one element ---- */
__device__ __forceinline__ float to_float(float x)
{
    return x;
}
__device__ __forceinline__ float to_float(double x)
{
    return (float)x;
}
__device__ __forceinline__ float to_float(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}
__device__ __forceinline__ float to_float(__half x)
{
    return __half2float(x);
}

template <typename T> __device__ __forceinline__ T from_float(float x);
template <> __device__ __forceinline__ float from_float<float>(float x)
{
    return x;
}
template <> __device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float x)
{
    return __float2bfloat16_rn(x);
}
template <> __device__ __forceinline__ __half from_float<__half>(float x)
{
    return __float2half_rn(x);
}

/* An operand of any dtype, alignment and row distance: the plain kernels take every shape and
 * mixture of dtypes. operand_of() (launch_cuda.cuh) refuses other dtypes on the host: a check here
 * would cost the hot kernels registers. */
struct Operand {
    void *data; /* NULL when the operand is absent */
    DType dtype;
    int64_t ld; /* elements from row to row */

    __device__ __forceinline__ float get(int64_t i) const
    {
        switch (dtype) {
        case DT_BF16:
            return to_float(static_cast<const __nv_bfloat16 *>(data)[i]);
        case DT_F16:
            return to_float(static_cast<const __half *>(data)[i]);
        default:
            return static_cast<const float *>(data)[i];
        }
    }

    __device__ __forceinline__ void set(int64_t i, float x) const
    {
        switch (dtype) {
        case DT_BF16:
            static_cast<__nv_bfloat16 *>(data)[i] = from_float<__nv_bfloat16>(x);
            break;
        case DT_F16:
            static_cast<__half *>(data)[i] = from_float<__half>(x);
            break;
        default:
            static_cast<float *>(data)[i] = x;
            break;
        }
    }
};

/* ---- several elements in one access ---- */

/* N elements in one access. Neighbouring threads take neighbouring vectors: a thread with two accesses
 * to 32 bytes of its own would leave gaps between it and the next, which costs up to a half. */
template <typename T, int N> struct alignas(N * sizeof(T)) Vector {
    static_assert(N * sizeof(T) == 8 || N * sizeof(T) == 16, "one access");
    T v[N];
};

/* Elements of a 16-byte access. */
template <typename T> constexpr int vector_width = 16 / (int)sizeof(T);

/* Without conversion: while many loads are in flight, 16-bit elements take half the registers. */
template <typename T, int N>
__device__ __forceinline__ void load_raw(Vector<T, N> &vector, const T *src)
{
    vector = *reinterpret_cast<const Vector<T, N> *>(src);
}

template <typename T, int N>
__device__ __forceinline__ void widen(float (&dst)[N], const Vector<T, N> &vector)
{
#pragma unroll
    for (int i = 0; i < N; i++) dst[i] = to_float(vector.v[i]);
}

/* A bf16 is the upper half of a float: one instruction each, where words are taken apart by hand. */
template <int N>
__device__ __forceinline__ void widen(float (&dst)[N], const Vector<__nv_bfloat16, N> &vector)
{
    uint32_t words[N / 2];
    memcpy(words, vector.v, sizeof words);
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        dst[2 * i] = __uint_as_float(words[i] << 16);
        dst[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000U);
    }
}

template <typename T, int N>
__device__ __forceinline__ void load_vector(float (&dst)[N], const T *src)
{
    Vector<T, N> vector;
    load_raw(vector, src);
    widen(dst, vector);
}

/* 16-bit elements are rounded in pairs, one instruction each where the chip has it. Words, because
 * structures of pairs are not stored in one access. */
__device__ __forceinline__ uint32_t round_pair(__nv_bfloat16, float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    uint32_t word;
    memcpy(&word, &pair, sizeof word);
    return word;
}

__device__ __forceinline__ uint32_t round_pair(__half, float low, float high)
{
    const __half2 pair = __floats2half2_rn(low, high);
    uint32_t word;
    memcpy(&word, &pair, sizeof word);
    return word;
}

template <typename T, int N>
__device__ __forceinline__ void store_vector(T *dst, const float (&src)[N])
{
    Vector<uint32_t, N / 2> p;
#pragma unroll
    for (int i = 0; i < N / 2; i++) p.v[i] = round_pair(T(), src[2 * i], src[2 * i + 1]);
    *reinterpret_cast<Vector<uint32_t, N / 2> *>(dst) = p;
}

template <int N> __device__ __forceinline__ void store_vector(float *dst, const float (&src)[N])
{
    Vector<float, N> p;
#pragma unroll
    for (int i = 0; i < N; i++) p.v[i] = src[i];
    *reinterpret_cast<Vector<float, N> *>(dst) = p;
}
