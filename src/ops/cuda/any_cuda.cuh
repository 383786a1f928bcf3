/* What the kernels of the fused step share: elements whose dtype is known only when a kernel runs
 * (plain kernels, which take every shape, alignment and mixture of dtypes), and one access of 8 or 16
 * bytes for several elements (fast kernels). */
#ifndef OPS_CUDA_ANY_CUDA_CUH
#define OPS_CUDA_ANY_CUDA_CUH

#include "ops/cuda/kernel_cuda.cuh"

struct Any {
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

/* Thread 0 gets the sum over the block, added in the same order every time. blockDim.x is a multiple
 * of 32; `shared` holds one double for each warp and may not be used again without a barrier. */
__device__ __forceinline__ double any_block_total(double x, double *shared)
{
#pragma unroll
    for (int i = 16; i > 0; i >>= 1) x += __shfl_xor_sync(0xffffffffU, x, i);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    double sum = 0;
    for (unsigned i = 0; threadIdx.x == 0 && i < blockDim.x / 32; i++) sum += shared[i];
    return sum;
}

/* N elements in one access. Neighbouring threads take neighbouring packs: a thread with two accesses
 * to 32 bytes of its own would leave gaps between it and the next, which costs up to a half. */
template <typename T, int N> struct alignas(N * sizeof(T)) AnyPack {
    static_assert(N * sizeof(T) == 8 || N * sizeof(T) == 16, "one access");
    T v[N];
};

/* Elements of a 16-byte access. */
template <typename T> constexpr int any_width = 16 / (int)sizeof(T);

/* Where many packs are on their way at once, they wait as they are: 16-bit ones then take half the
 * registers. */
template <typename T, int N>
__device__ __forceinline__ void any_fetch(AnyPack<T, N> &pack, const T *src)
{
    pack = *reinterpret_cast<const AnyPack<T, N> *>(src);
}

template <typename T, int N>
__device__ __forceinline__ void any_widen(float (&dst)[N], const AnyPack<T, N> &pack)
{
#pragma unroll
    for (int i = 0; i < N; i++) dst[i] = to_float(pack.v[i]);
}

/* A bf16 is the upper half of a float: one instruction each, where words are taken apart by hand. */
template <int N>
__device__ __forceinline__ void any_widen(float (&dst)[N], const AnyPack<__nv_bfloat16, N> &pack)
{
    uint32_t words[N / 2];
    memcpy(words, pack.v, sizeof words);
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        dst[2 * i] = __uint_as_float(words[i] << 16);
        dst[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000U);
    }
}

template <typename T, int N> __device__ __forceinline__ void any_load(float (&dst)[N], const T *src)
{
    AnyPack<T, N> pack;
    any_fetch(pack, src);
    any_widen(dst, pack);
}

/* 16-bit elements are rounded in pairs, one instruction each where the chip has it. Words, because
 * structures of pairs are not stored in one access. */
__device__ __forceinline__ uint32_t any_round(__nv_bfloat16, float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    uint32_t word;
    memcpy(&word, &pair, sizeof word);
    return word;
}

__device__ __forceinline__ uint32_t any_round(__half, float low, float high)
{
    const __half2 pair = __floats2half2_rn(low, high);
    uint32_t word;
    memcpy(&word, &pair, sizeof word);
    return word;
}

template <typename T, int N>
__device__ __forceinline__ void any_store(T *dst, const float (&src)[N])
{
    AnyPack<uint32_t, N / 2> p;
#pragma unroll
    for (int i = 0; i < N / 2; i++) p.v[i] = any_round(T(), src[2 * i], src[2 * i + 1]);
    *reinterpret_cast<AnyPack<uint32_t, N / 2> *>(dst) = p;
}

template <int N> __device__ __forceinline__ void any_store(float *dst, const float (&src)[N])
{
    AnyPack<float, N> p;
#pragma unroll
    for (int i = 0; i < N; i++) p.v[i] = src[i];
    *reinterpret_cast<AnyPack<float, N> *>(dst) = p;
}

static inline Any any_out(const OpCall *call, int i)
{
    const Tensor *t = op_out_shape(call, i);
    return t ? Any{op_out(call, i), t->dtype, t->ld} : Any{nullptr, DT_F32, 0};
}

static inline Any any_in(const OpCall *call, int i)
{
    const Tensor *t = op_in_shape(call, i);
    return t ? Any{const_cast<void *>(op_in(call, i)), t->dtype, t->ld} : Any{nullptr, DT_F32, 0};
}

static inline int64_t any_at_most(int64_t x, int64_t most)
{
    return x < most ? x : most;
}

/* Blocks along x for this many pieces of work; kernels go on from block to block + gridDim.x. */
static inline unsigned any_grid(int64_t pieces)
{
    return (unsigned)any_at_most(pieces, 0x7fffffff);
}

/* At most `most` blocks for so many pieces, no more than it takes for every block to have the same
 * number of them, or one less. */
static inline int any_even_blocks(int64_t pieces, int64_t most)
{
    return (int)blocks_for(pieces, blocks_for(pieces, most));
}

/* A whole number of warps for this many items, at most `most`. */
static inline int any_threads(int64_t items, int most)
{
    return (int)any_at_most((items + 31) / 32 * 32, most);
}

/* A grid for elementwise work on rows of `items` items: rows along x (kernels go on from row to
 * row + gridDim.x), and along y pieces of at most `most` items, about equally long. */
struct AnyGrid {
    dim3 grid;
    int threads;
};

static inline AnyGrid any_row_grid(int64_t rows, int64_t items, int most)
{
    const int64_t pieces = blocks_for(items, most);
    return {dim3(any_grid(rows), (unsigned)pieces), any_threads(blocks_for(items, pieces), most)};
}

#endif
