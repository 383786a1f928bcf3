/* Elementwise kernels of the primitives: elements of tensors by their flat index, row after row, a
 * vector of FLAT_WIDTH at a time.
 *
 * VectorOperand<T> is for operands whose vectors are aligned and do not cross a gap between rows
 * (one access of 8 or 16 bytes); ScalarOperand takes every dtype, alignment and row distance, one
 * element at a time. */
#pragma once

#include "ops/broadcasting.h"
#include "ops/cuda/launch_cuda.cuh"

#include <type_traits>

/* A thread handles FLAT_VECTORS vectors and loads all of them before it uses the first. Vectors of
 * 4 are one access in every dtype, so that neighbouring threads read and write without gaps. */
enum {
    FLAT_WIDTH = 4,
    FLAT_THREADS = 256,
    FLAT_VECTORS = 4,
    FLAT_BLOCK = FLAT_THREADS * FLAT_VECTORS * FLAT_WIDTH
};

template <typename T> struct VectorOperand {
    T *data;
    int64_t cols, ld;
};

/* May be float64 where it is read: the step state is. */
struct ScalarOperand : Operand {
    int64_t cols;

    __device__ __forceinline__ float get(int64_t i) const
    {
        return dtype == DT_F64 ? to_float(static_cast<const double *>(data)[i]) : Operand::get(i);
    }
};

/* The first element of this thread's vector number `v`. */
__device__ __forceinline__ int64_t vector_start(int v)
{
    return (((int64_t)blockIdx.x * FLAT_VECTORS + v) * FLAT_THREADS + threadIdx.x) * FLAT_WIDTH;
}

/* Where element i lies. */
__device__ __forceinline__ int64_t place(int64_t i, int64_t cols, int64_t ld)
{
    if (ld == cols) return i;
    const int64_t row = i / cols;
    return row * ld + (i - row * cols);
}

/* Element i of an operand without gaps. */
template <typename T> __device__ __forceinline__ float read_one(VectorOperand<T> x, int64_t i)
{
    return to_float(x.data[i]);
}

__device__ __forceinline__ float read_one(ScalarOperand x, int64_t i)
{
    return x.get(i);
}

/* v = elements [i, i + FLAT_WIDTH) of the n there are; zeros past the end. Only operands without gaps
 * have a short last vector (is_flat_vectorizable). */
template <typename T>
__device__ __forceinline__ void read_vector(float (&v)[FLAT_WIDTH], VectorOperand<T> x, int64_t i,
                                            int64_t n)
{
    if (i + FLAT_WIDTH <= n) {
        load_vector(v, (const T *)x.data + place(i, x.cols, x.ld));
        return;
    }
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) v[k] = i + k < n ? to_float(x.data[i + k]) : 0.0F;
}

template <typename T>
__device__ __forceinline__ void write_vector(VectorOperand<T> x, int64_t i, int64_t n,
                                             const float (&v)[FLAT_WIDTH])
{
    if (i + FLAT_WIDTH <= n) {
        store_vector(x.data + place(i, x.cols, x.ld), v);
        return;
    }
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        if (i + k < n) x.data[i + k] = from_float<T>(v[k]);
    }
}

/* each(k, place) for elements i + k of a vector: one division, then over the gap after each row. */
template <typename Each>
__device__ __forceinline__ void for_elements(ScalarOperand x, int64_t i, const Each &each)
{
    const int64_t row = i / x.cols;
    int64_t col = i - row * x.cols, at = row * x.ld + col;
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        each(k, at++);
        if (++col < x.cols) continue;
        col = 0;
        at += x.ld - x.cols;
    }
}

__device__ __forceinline__ void read_vector(float (&v)[FLAT_WIDTH], ScalarOperand x, int64_t i,
                                            int64_t n)
{
    for_elements(x, i, [&](int k, int64_t at) { v[k] = i + k < n ? x.get(at) : 0.0F; });
}

__device__ __forceinline__ void write_vector(ScalarOperand x, int64_t i, int64_t n,
                                             const float (&v)[FLAT_WIDTH])
{
    for_elements(x, i, [&](int k, int64_t at) {
        if (i + k < n) x.set(at, v[k]);
    });
}

/* Divides indices that fit 31 bits by a multiplication and a shift. The factor is 2^shift / by,
 * rounded up; with 31 + log2(by), rounded up, bits that is exact (Granlund and Montgomery, 1994). */
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
        read_vector(v, y, i, n);
        return;
    }
    const bool in_row = r.how == BROADCAST_COLUMN;
    const int64_t length = r.length.by;
    int64_t period = quotient(i, r.length), at = i - period * length;
    if (at + FLAT_WIDTH <= length && (in_row || at % FLAT_WIDTH == 0)) {
        if (!in_row) {
            read_vector(v, y, at, length);
            return;
        }
        const float same = read_one(y, period);
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k++) v[k] = same;
        return;
    }
#pragma unroll
    for (int k = 0; k < FLAT_WIDTH; k++) {
        v[k] = i + k < n ? read_one(y, in_row ? period : at) : 0.0F;
        if (++at == length) {
            at = 0;
            period++;
        }
    }
}

/* ---- host side ---- */

/* An operand of the call, before it is known how its kernel accesses it. */
struct TensorRef {
    void *data;
    const Tensor *shape;
};

static inline TensorRef out_ref(const OpCall *call, int i)
{
    return {op_out(call, i), op_out_shape(call, i)};
}

static inline TensorRef in_ref(const OpCall *call, int i)
{
    return {const_cast<void *>(op_in(call, i)), op_in_shape(call, i)};
}

template <typename T> static inline VectorOperand<T> vector_operand(const TensorRef &ref)
{
    return {static_cast<T *>(ref.data), plan_width(ref.shape), ref.shape->ld};
}

static inline ScalarOperand scalar_operand(const TensorRef &ref)
{
    return {operand_of(ref.data, ref.shape), plan_width(ref.shape)};
}

/* Vectors start aligned and cross no gap; without gaps the last may be short. */
static inline bool is_flat_vectorizable(const TensorRef &ref)
{
    const Tensor *t = ref.shape;
    const bool aligned = (uintptr_t)ref.data % (FLAT_WIDTH * plan_dtype_size(t->dtype)) == 0;
    const bool whole = plan_width(t) % FLAT_WIDTH == 0 && t->ld % FLAT_WIDTH == 0;
    return aligned && (plan_contiguous(t) || whole);
}

/* A step has one 16-bit dtype: kernels for bf16 beside f16 are not compiled, ScalarOperand serves those. */
template <typename T, typename... Others>
constexpr bool one_half_type = sizeof(T) == 4 ||
                               ((sizeof(Others) == 4 || std::is_same_v<T, Others>)&&...);

static inline bool takes_vectors(const TensorRef *refs, int n)
{
    DType half = DT_F32;
    for (int i = 0; i < n; i++) {
        const DType dtype = refs[i].shape->dtype;
        if (dtype == DT_F64 || !is_flat_vectorizable(refs[i])) return false;
        if (dtype == DT_F32) continue;
        if (half != DT_F32 && half != dtype) return false;
        half = dtype;
    }
    return true;
}

/* Calls launch() with the operands that have a type, and LEFT more from `refs`, which get theirs here. */
template <int LEFT, typename Launch, typename... T>
static Status launch_typed(const OpCall *call, const Launch &launch, const TensorRef *refs,
                           VectorOperand<T>... typed)
{
    if constexpr (LEFT == 0) {
        launch(typed...);
        return LAUNCH_STATUS();
    } else {
        DISPATCH_FLOAT(refs->shape->dtype, Next, {
            if constexpr (one_half_type<Next, T...>) {
                return launch_typed<LEFT - 1>(call, launch, refs + 1, typed...,
                                              vector_operand<Next>(*refs));
            }
        });
        return FAIL(ST_UNSUPPORTED, "%s: two 16-bit dtypes", call->node->scope);
    }
}

/* launch(operands...), where they are VectorOperands of their types if all of them can be, else
 * ScalarOperands. */
template <typename Launch, typename... Refs>
static Status elementwise_launch(const OpCall *call, const Launch &launch, Refs... refs)
{
    constexpr int N = sizeof...(refs);
    const TensorRef list[N] = {refs...};
    if (takes_vectors(list, N)) return launch_typed<N>(call, launch, list);
    launch(scalar_operand(refs)...);
    return LAUNCH_STATUS();
}

/* For indices up to n and those of the last block beyond it. */
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
