/* Elements of tensors by their number, row after row, FLAT_WIDTH at a time: what the primitives'
 * kernels read and write with.
 *
 * Slot<T> is for operands whose packs are aligned and do not cross a gap between rows (one access of
 * 8 or 16 bytes); AnySlot takes every dtype, alignment and row distance, one element at a time. */
#ifndef OPS_CUDA_ELEMENTWISE_CUDA_CUH
#define OPS_CUDA_ELEMENTWISE_CUDA_CUH

#include "ops/broadcasting.h"
#include "ops/cuda/any_cuda.cuh"

#include <type_traits>

/* Each thread of a block handles FLAT_PACKS packs, all of them loaded before the first is used.
 * Packs of 4 are one access in every dtype, so that neighbours read and write without gaps. */
enum {
    FLAT_WIDTH = 4,
    FLAT_THREADS = 256,
    FLAT_PACKS = 4,
    FLAT_BLOCK = FLAT_THREADS * FLAT_PACKS * FLAT_WIDTH
};

template <typename T> struct Slot {
    using Element = T;
    T *data;
    int64_t cols, ld;
};

struct AnySlot {
    using Element = float;
    void *data;
    DType dtype;
    int64_t cols, ld;
};

/* The first element of this thread's pack number `pack`. */
__device__ __forceinline__ int64_t pack_start(int pack)
{
    return (((int64_t)blockIdx.x * FLAT_PACKS + pack) * FLAT_THREADS + threadIdx.x) * FLAT_WIDTH;
}

/* Where element i lies. */
__device__ __forceinline__ int64_t place(int64_t i, int64_t cols, int64_t ld)
{
    if (ld == cols) return i;
    const int64_t row = i / cols;
    return row * ld + (i - row * cols);
}

__device__ __forceinline__ float read_any(const void *data, DType dtype, int64_t at)
{
    switch (dtype) {
    case DT_F32:
        return ((const float *)data)[at];
    case DT_BF16:
        return to_float(((const __nv_bfloat16 *)data)[at]);
    case DT_F16:
        return to_float(((const __half *)data)[at]);
    default:
        return to_float(((const double *)data)[at]);
    }
}

/* Not float64: no kernel writes it. */
__device__ __forceinline__ void write_any(void *data, DType dtype, int64_t at, float x)
{
    if (dtype == DT_F32) {
        ((float *)data)[at] = x;
    } else if (dtype == DT_BF16) {
        ((__nv_bfloat16 *)data)[at] = from_float<__nv_bfloat16>(x);
    } else {
        ((__half *)data)[at] = from_float<__half>(x);
    }
}

/* Element i of an operand without gaps. */
template <typename T> __device__ __forceinline__ float read_one(Slot<T> x, int64_t i)
{
    return to_float(x.data[i]);
}

__device__ __forceinline__ float read_one(AnySlot x, int64_t i)
{
    return read_any(x.data, x.dtype, i);
}

/* v = elements [i, i + FLAT_WIDTH) of the n there are; zeros past the end. Only operands without gaps
 * have a short last pack (elementwise_fits). */
template <typename T>
__device__ __forceinline__ void read_pack(float (&v)[FLAT_WIDTH], Slot<T> x, int64_t i, int64_t n)
{
    if (i + FLAT_WIDTH <= n) {
        any_load(v, (const T *)x.data + place(i, x.cols, x.ld));
        return;
    }
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) v[k] = i + k < n ? to_float(x.data[i + k]) : 0.0F;
}

template <typename T>
__device__ __forceinline__ void write_pack(Slot<T> x, int64_t i, int64_t n,
                                           const float (&v)[FLAT_WIDTH])
{
    if (i + FLAT_WIDTH <= n) {
        any_store(x.data + place(i, x.cols, x.ld), v);
        return;
    }
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        if (i + k < n) x.data[i + k] = from_float<T>(v[k]);
    }
}

/* Goes from an element to the next, over the gap after each row: one division for a pack. */
struct Walk {
    int64_t at, col;
};

__device__ __forceinline__ Walk walk_from(AnySlot x, int64_t i)
{
    const int64_t row = i / x.cols, col = i - row * x.cols;
    return {row * x.ld + col, col};
}

__device__ __forceinline__ void walk_on(Walk &w, AnySlot x)
{
    w.at++;
    if (++w.col < x.cols) return;
    w.col = 0;
    w.at += x.ld - x.cols;
}

__device__ __forceinline__ void read_pack(float (&v)[FLAT_WIDTH], AnySlot x, int64_t i, int64_t n)
{
    Walk w = walk_from(x, i);
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        v[k] = i + k < n ? read_any(x.data, x.dtype, w.at) : 0.0F;
        walk_on(w, x);
    }
}

__device__ __forceinline__ void write_pack(AnySlot x, int64_t i, int64_t n,
                                           const float (&v)[FLAT_WIDTH])
{
    Walk w = walk_from(x, i);
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        if (i + k < n) write_any(x.data, x.dtype, w.at, v[k]);
        walk_on(w, x);
    }
}

/* A number that places of elements are divided by: where they fit 31 bits, by a product and a shift instead. The factor
 * is 2^shift / by, rounded up; with 31 + log2(by), rounded up, bits that is exact (Granlund and Montgomery, 1994). */
struct Divisor {
    int64_t by;
    uint32_t factor, shift; /* 0: not narrow */
};

__device__ __forceinline__ int64_t quotient(int64_t i, Divisor d)
{
    return d.factor ? (int64_t)((uint64_t)i * d.factor >> d.shift) : i / d.by;
}

/* How an operand without gaps goes with a larger one of n elements (ops/broadcasting.h). */
struct Repetition {
    Broadcasting how;
    Divisor
        length; /* BROADCAST_COLUMN: elements that share one number; BROADCAST_PERIOD: its own elements */
};

/* The elements of y that elements [i, i + FLAT_WIDTH) of the larger operand meet. */
template <typename S>
__device__ __forceinline__ void read_repeated(float (&v)[FLAT_WIDTH], S y, Repetition r, int64_t i,
                                              int64_t n)
{
    if (i >= n) return;
    if (r.how == BROADCAST_NONE) {
        read_pack(v, y, i, n);
        return;
    }
    const bool in_row = r.how == BROADCAST_COLUMN;
    const int64_t length = r.length.by;
    int64_t turn = quotient(i, r.length), at = i - turn * length;
    if (at + FLAT_WIDTH <= length && (in_row || at % FLAT_WIDTH == 0)) {
        if (!in_row) {
            read_pack(v, y, at, length);
            return;
        }
        const float same = read_one(y, turn);
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k++) v[k] = same;
        return;
    }
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        v[k] = i + k < n ? read_one(y, in_row ? turn : at) : 0.0F;
        if (++at == length) {
            at = 0;
            turn++;
        }
    }
}

/* ---- host side ---- */

/* An implementation that neither prepares nor keeps anything. */
static constexpr OpImpl elementwise_impl(const char *name, decltype(OpImpl::declines) declines,
                                         decltype(OpImpl::workspace) workspace,
                                         decltype(OpImpl::run) run)
{
    OpImpl impl = {};
    impl.name = name;
    impl.declines = declines;
    impl.workspace = workspace;
    impl.run = run;
    return impl;
}

/* A step has one 16-bit type: kernels for bf16 beside f16 are not made, AnySlot serves those. */
template <typename A, typename B>
constexpr bool halves_agree = sizeof(typename A::Element) == 4 ||
                              sizeof(typename B::Element) == 4 || std::is_same_v<A, B>;

static inline bool dtypes_agree(DType a, DType b)
{
    return a == b || a == DT_F32 || b == DT_F32;
}

template <typename T> static inline Slot<T> slot_of(const void *data, const Tensor *t)
{
    return {(T *)data, plan_width(t), t->ld};
}

static inline AnySlot any_slot(const void *data, const Tensor *t)
{
    return {(void *)data, t->dtype, plan_width(t), t->ld};
}

/* Its packs start aligned and cross no gap; without gaps the last may be short. */
static inline bool elementwise_fits(const void *data, const Tensor *t)
{
    const bool aligned = (uintptr_t)data % (FLAT_WIDTH * plan_dtype_size(t->dtype)) == 0;
    const bool whole = plan_width(t) % FLAT_WIDTH == 0 && t->ld % FLAT_WIDTH == 0;
    return aligned && (plan_contiguous(t) || whole);
}

/* Of places up to n and what a last block has beyond. */
static inline Divisor divisor_of(int64_t by, int64_t n)
{
    Divisor d = {by, 0, 0};
    if (n > INT32_MAX - FLAT_BLOCK) return d;
    d.shift = 31;
    while (((int64_t)1 << (d.shift - 31)) < by) d.shift++;
    d.factor = (uint32_t)((((uint64_t)1 << d.shift) + (uint64_t)by - 1) / (uint64_t)by);
    return d;
}

/* A single number goes with everything, as one that serves a row of all n elements. */
static inline Repetition repetition_of(const Tensor *large, const Tensor *small)
{
    const int64_t n = plan_elements(large), period = plan_elements(small);
    if (period == 1) return {BROADCAST_COLUMN, divisor_of(n, n)};
    const Broadcasting how = broadcasting_of(large, small);
    return {how, divisor_of(how == BROADCAST_COLUMN ? plan_width(large) : period, n)};
}

static inline unsigned elementwise_grid(int64_t n)
{
    return (unsigned)blocks_for(n, FLAT_BLOCK);
}

#endif
