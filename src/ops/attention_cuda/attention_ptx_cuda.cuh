/* The instructions of the flash attention kernels that C++ has no words for, one function each.
 *
 * Fragments are as the PTX manual draws them: lane 4 g + t of a warp holds, of an 8 x 8 matrix of
 * words (16-byte rows), word t of row g; of a 16 x 8 accumulator, columns 2t and 2t + 1 of rows g and
 * g + 8.
 *
 * Everything compiles for every chip. What a chip has no instruction for does nothing there, and the
 * kernels that use it are not started (attention_flash_cuda.cu). */
#pragma once

#include "ops/cuda/memory_access_cuda.cuh"
#include "ops/cuda/quick_math_cuda.cuh"

#include <type_traits>

__device__ __forceinline__ uint32_t ptx_shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* The float as the tensor cores' 19-bit format, rounded to nearest; unrounded bits are cut off there. */
__device__ __forceinline__ uint32_t ptx_round_tf32(float x)
{
    uint32_t y = __float_as_uint(x);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
#endif
    return y;
}

/* ---- from memory to shared memory, without waiting: 16 or 4 bytes, or zeros ---- */
__device__ __forceinline__ void ptx_copy16(void *to, const void *from, bool there)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(ptx_shared_address(to)),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
#else
    *static_cast<uint4 *>(to) = there ? *static_cast<const uint4 *>(from) : uint4{0, 0, 0, 0};
#endif
}

__device__ __forceinline__ void ptx_copy4(void *to, const void *from, bool there)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(ptx_shared_address(to)),
                 "l"(from), "r"(there ? 4 : 0)
                 : "memory");
#else
    *static_cast<uint32_t *>(to) = there ? *static_cast<const uint32_t *>(from) : 0U;
#endif
}

/* Waits for all copies of this thread; other threads' need a barrier besides. */
__device__ __forceinline__ void ptx_await_copies()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* ---- from shared memory to fragments: four matrices, lanes 8i to 8i + 7 name the rows of matrix i;
 * TRANS: each matrix of 16-bit elements is turned over its diagonal ---- */
template <bool TRANS>
__device__ __forceinline__ void ptx_load_matrices(uint32_t (&m)[4], uint32_t row)
{
#define PTX_LOAD_MATRICES(form)                                                             \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" form ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])                           \
                 : "r"(row)                                                                 \
                 : "memory")
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    if constexpr (TRANS)
        PTX_LOAD_MATRICES(".trans");
    else
        PTX_LOAD_MATRICES("");
#else
    m[0] = m[1] = m[2] = m[3] = row;
#endif
#undef PTX_LOAD_MATRICES
}

/* ---- c += a b on tensor cores: 16 x k times k x 8, k of 32 bytes. Floats are already rounded to
 * tf32. ---- */
template <typename E>
__device__ __forceinline__ void ptx_mma(float &c0, float &c1, float &c2, float &c3,
                                        const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
#define PTX_MMA(form)                                                     \
    asm("mma.sync.aligned." form ".f32 "                                  \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)                          \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
#define PTX_MMA_HALF(a0, a1, b)                               \
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "   \
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)              \
        : "r"(a0), "r"(a1), "r"(b))
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (sizeof(E) == 4)
        PTX_MMA("m16n8k8.row.col.f32.tf32.tf32");
    else if constexpr (std::is_same_v<E, __nv_bfloat16>)
        PTX_MMA("m16n8k16.row.col.f32.bf16.bf16");
    else
        PTX_MMA("m16n8k16.row.col.f32.f16.f16");
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    if constexpr (std::is_same_v<E, __half>) {
        /* halves of k are separate registers, so two steps of 8 are one of 16 */
        PTX_MMA_HALF(a[0], a[1], b0);
        PTX_MMA_HALF(a[2], a[3], b1);
    }
#endif
#undef PTX_MMA
#undef PTX_MMA_HALF
}

/* ---- between blocks ---- */

/* Adds to memory without reading it back. */
__device__ __forceinline__ void ptx_add4(float *to, const float4 &x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x.x), "f"(x.y),
                 "f"(x.z), "f"(x.w)
                 : "memory");
#else
    atomicAdd(to, x.x);
    atomicAdd(to + 1, x.y);
    atomicAdd(to + 2, x.z);
    atomicAdd(to + 3, x.w);
#endif
}

/* Once the flag is read, what its writer wrote before it is there; by other threads of the two blocks
 * too, a barrier between. */
__device__ __forceinline__ int ptx_read_flag(const int *flag)
{
    int value;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
#else
    value = *const_cast<const volatile int *>(flag);
    __threadfence();
#endif
    return value;
}

__device__ __forceinline__ void ptx_write_flag(int *flag, int value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
#else
    __threadfence();
    *const_cast<volatile int *>(flag) = value;
#endif
}
