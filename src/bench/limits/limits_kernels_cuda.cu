#include "bench/limits/limits_kernels_cuda.h"

#include <stdint.h>

enum { THREADS = 256, PACK = sizeof(uint4) };

template <bool STREAMING> __device__ __forceinline__ uint4 load(const uint4 *from)
{
    return STREAMING ? __ldcs(from) : *from;
}

template <bool STREAMING> __device__ __forceinline__ void store(uint4 *to, uint4 x)
{
    if (STREAMING) {
        __stcs(to, x);
    } else {
        *to = x;
    }
}

/* This thread's pack number 0; the next ones are THREADS packs apart, so that a warp's accesses touch. */
template <int PACKS> __device__ __forceinline__ int64_t first_pack(void)
{
    return (int64_t)blockIdx.x * (THREADS * PACKS) + threadIdx.x;
}

/* All loads are under way before the first is waited for. The sum is compared with a number that only
 * the compiler does not know to be impossible. */
template <int PACKS, bool STREAMING>
__global__ __launch_bounds__(THREADS) void read_kernel(uint4 *never, const uint4 *from)
{
    const uint4 *at = from + first_pack<PACKS>();
    uint4 x[PACKS];
    uint32_t mix = 0;
#pragma unroll
    for (int i = 0; i < PACKS; i++) x[i] = load<STREAMING>(at + i * THREADS);
#pragma unroll
    for (int i = 0; i < PACKS; i++) mix |= x[i].x | x[i].y | x[i].z | x[i].w;
    if (mix == 0x9e3779b9U) never->x = mix;
}

template <int PACKS, bool STREAMING>
__global__ __launch_bounds__(THREADS) void write_kernel(uint4 *to, const uint4 *)
{
    uint4 *at = to + first_pack<PACKS>();
#pragma unroll
    for (int i = 0; i < PACKS; i++) {
        store<STREAMING>(at + i * THREADS, make_uint4(1, 1, 1, 1));
    }
}

template <int PACKS, bool STREAMING>
__global__ __launch_bounds__(THREADS) void copy_kernel(uint4 *to, const uint4 *from)
{
    const int64_t first = first_pack<PACKS>();
    uint4 x[PACKS];
#pragma unroll
    for (int i = 0; i < PACKS; i++) x[i] = load<STREAMING>(from + first + i * THREADS);
#pragma unroll
    for (int i = 0; i < PACKS; i++) store<STREAMING>(to + first + i * THREADS, x[i]);
}

__global__ void empty_kernel(void)
{
}

typedef void Kernel(uint4 *to, const uint4 *from);

enum { MOST_PACKS = 8 };
static_assert(LIMITS_KERNELS_UNIT % (THREADS * MOST_PACKS * PACK) == 0, "blocks are whole");

/* By way: a thread's packs are doubled from one to the next, without and with streaming. */
#define WAYS(kernel)                                                                             \
    {                                                                                            \
        kernel<1, false>, kernel<2, false>, kernel<4, false>, kernel<8, false>, kernel<1, true>, \
            kernel<2, true>, kernel<4, true>, kernel<8, true>                                    \
    }
static Kernel *const kernels[][LIMITS_KERNELS_WAYS] = {WAYS(read_kernel), WAYS(write_kernel),
                                                       WAYS(copy_kernel)};

Status limits_kernels_walk(Backend *be, LimitsKernel kernel, int way, void *to, const void *from,
                           size_t bytes)
{
    const size_t block_bytes = (size_t)THREADS * PACK << way % 4;
    kernels[kernel][way]<<<(unsigned)(bytes / block_bytes), THREADS, 0, be->stream>>>(
        (uint4 *)to, (const uint4 *)from);
    return LAUNCH_STATUS();
}

Status limits_kernels_empty(Backend *be)
{
    empty_kernel<<<1, 1, 0, be->stream>>>();
    return LAUNCH_STATUS();
}
