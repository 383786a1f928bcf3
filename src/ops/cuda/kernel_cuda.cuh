/* What kernels are written with: 16-byte accesses to any element type, arithmetic in float. */
#ifndef OPS_CUDA_KERNEL_CUDA_CUH
#define OPS_CUDA_KERNEL_CUDA_CUH

#include "backend/cuda_backend.h"
#include "ops/op.h"

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

/* ---- WIDTH elements in one or two 16-byte accesses; the address must be 16-byte aligned ---- */
enum { WIDTH = 8 }; /* elements a thread handles at once */

template <typename T> struct alignas(16) Pack {
    T v[WIDTH];
};

template <typename T> __device__ __forceinline__ void load8(float (&dst)[WIDTH], const T *src)
{
    const Pack<T> p = *reinterpret_cast<const Pack<T> *>(src);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) dst[i] = to_float(p.v[i]);
}

template <typename T> __device__ __forceinline__ void store8(T *dst, const float (&src)[WIDTH])
{
    Pack<T> p;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) p.v[i] = from_float<T>(src[i]);
    *reinterpret_cast<Pack<T> *>(dst) = p;
}

/* ---- sums and maxima over a warp and a block; every thread gets the result ---- */
__device__ __forceinline__ float warp_sum(float x)
{
#pragma unroll
    for (int i = 16; i > 0; i >>= 1) x += __shfl_xor_sync(0xffffffffU, x, i);
    return x;
}

__device__ __forceinline__ float warp_max(float x)
{
#pragma unroll
    for (int i = 16; i > 0; i >>= 1) x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, i));
    return x;
}

/* blockDim.x is a multiple of 32; `shared` holds one float for each warp. May be called again with
 * the same memory: it ends with a barrier. */
__device__ __forceinline__ float block_sum(float x, float *shared)
{
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    const int warps = blockDim.x / 32;
    float sum = 0;
    for (int i = 0; i < warps; i++) sum += shared[i];
    __syncthreads();
    return sum;
}

__device__ __forceinline__ float block_max(float x, float *shared)
{
    x = warp_max(x);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    const int warps = blockDim.x / 32;
    float most = shared[0];
    for (int i = 1; i < warps; i++) most = fmaxf(most, shared[i]);
    __syncthreads();
    return most;
}

/* First in every kernel started by launch_early(): blocks may be there before the work they depend on
 * is done. */
__device__ __forceinline__ void await_inputs()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* ---- host side ---- */

/* Starts a kernel while the one before it still drains, where the chip can: the start itself, a
 * microsecond, is then hidden. The kernel must call await_inputs() before it touches memory. */
template <typename... Parameters, typename... Arguments>
static inline Status launch_early(const Backend *be, void (*kernel)(Parameters...), dim3 grid,
                                  dim3 threads, Arguments... arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = grid;
    how.blockDim = threads;
    how.stream = be->stream;
    how.attrs = &early;
    how.numAttrs = be->capability >= 90 ? 1 : 0;
    TRY_CUDA(cudaLaunchKernelEx(&how, kernel, static_cast<Parameters>(arguments)...));
    return ST_OK;
}

/* True when rows start 16-byte aligned and hold whole packs: the fast kernels' condition. */
static inline bool packs_fit(const void *data, const Tensor *t)
{
    if (!t) return true;
    return plan_width(t) % WIDTH == 0 && t->ld % WIDTH == 0 && ((uintptr_t)data & 15U) == 0;
}

static inline int64_t blocks_for(int64_t items, int64_t per_block)
{
    return (items + per_block - 1) / per_block;
}

/* Calls FN<T>(args) with the C++ type of a dtype; nothing for those a kernel does not take. */
#define DISPATCH_FLOAT(dtype, T, ...)                                                   \
    do {                                                                                \
        if ((dtype) == DT_F32) {                                                        \
            using T = float;                                                            \
            __VA_ARGS__;                                                                \
        } else if ((dtype) == DT_BF16) {                                                \
            using T = __nv_bfloat16;                                                    \
            __VA_ARGS__;                                                                \
        } else if ((dtype) == DT_F16) {                                                 \
            using T = __half;                                                           \
            __VA_ARGS__;                                                                \
        } else                                                                          \
            return FAIL(ST_UNSUPPORTED, "%s: no CUDA kernel for %s", call->node->scope, \
                        plan_dtype_name(dtype));                                        \
    } while (0)

#endif
