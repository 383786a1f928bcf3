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
__global__ __launch_bounds__(THREADS) void read_kernel(uint32_t *never, const uint4 *from)
{
    const uint4 *at = from + first_pack<PACKS>();
    uint4 x[PACKS];
    uint32_t mix = 0;
#pragma unroll
    for (int i = 0; i < PACKS; i++) x[i] = load<STREAMING>(at + i * THREADS);
#pragma unroll
    for (int i = 0; i < PACKS; i++) mix |= x[i].x | x[i].y | x[i].z | x[i].w;
    if (mix == 0x9e3779b9U) *never = mix;
}

template <int PACKS, bool STREAMING>
__global__ __launch_bounds__(THREADS) void write_kernel(uint4 *to)
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

template <int PACKS> static unsigned grid(size_t bytes)
{
    static_assert(LIMITS_KERNELS_UNIT % (THREADS * PACKS * PACK) == 0, "blocks are whole");
    return (unsigned)(bytes / (THREADS * PACKS * PACK));
}

/* Calls F with the PACKS and STREAMING of a way. */
#define WITH_WAY(way, F) \
    switch (way) {       \
    case 0:              \
        F(1, false);     \
        break;           \
    case 1:              \
        F(2, false);     \
        break;           \
    case 2:              \
        F(4, false);     \
        break;           \
    case 3:              \
        F(8, false);     \
        break;           \
    case 4:              \
        F(1, true);      \
        break;           \
    case 5:              \
        F(2, true);      \
        break;           \
    case 6:              \
        F(4, true);      \
        break;           \
    default:             \
        F(8, true);      \
        break;           \
    }

Status limits_kernels_read(Backend *be, int way, void *to, const void *from, size_t bytes)
{
#define READ(packs, streaming)    \
    read_kernel<packs, streaming> \
        <<<grid<packs>(bytes), THREADS, 0, be->stream>>>((uint32_t *)to, (const uint4 *)from)
    WITH_WAY(way, READ)
    return LAUNCH_STATUS();
}

Status limits_kernels_write(Backend *be, int way, void *to, const void *from, size_t bytes)
{
    (void)from;
#define WRITE(packs, streaming) \
    write_kernel<packs, streaming><<<grid<packs>(bytes), THREADS, 0, be->stream>>>((uint4 *)to)
    WITH_WAY(way, WRITE)
    return LAUNCH_STATUS();
}

Status limits_kernels_copy(Backend *be, int way, void *to, const void *from, size_t bytes)
{
#define COPY(packs, streaming)    \
    copy_kernel<packs, streaming> \
        <<<grid<packs>(bytes), THREADS, 0, be->stream>>>((uint4 *)to, (const uint4 *)from)
    WITH_WAY(way, COPY)
    return LAUNCH_STATUS();
}

Status limits_kernels_empty(Backend *be)
{
    empty_kernel<<<1, 1, 0, be->stream>>>();
    return LAUNCH_STATUS();
}
