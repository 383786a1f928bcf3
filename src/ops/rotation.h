/* Which columns of a row RoPE turns with which: those of ops/rope.c and ops/rotate_pairs.c. */
#pragma once

#include "plan/plan.h"

#ifdef __CUDACC__
#define ROTATION_INLINE static __host__ __device__ __forceinline__
#else
#define ROTATION_INLINE static inline
#endif

typedef struct Rotation {
    int64_t heads;    /* that turn, from column 0 on */
    int64_t head_dim; /* D, columns of a head */
    int64_t half;     /* pairs of a head; its first 2 * half columns turn */
    bool halves;      /* column i turns with i + half; else 2i with 2i + 1 */
} Rotation;

/* `cos` is a table of the angles, [T, half]. */
static inline Rotation rotation_of(const NodeAttr *attr, const Tensor *cos)
{
    const int64_t half = plan_width(cos);
    const Rotation r = {attr->heads, attr->head_dim ? attr->head_dim : 2 * half, half,
                        attr->halves};
    return r;
}

/* Of a row of nothing but heads. Pairs that fill it are heads of two columns. */
static inline Rotation rotation_of_row(const NodeAttr *attr, int64_t width)
{
    const int64_t D = attr->head_dim ? attr->head_dim : 2;
    const Rotation r = {width / D, D, (attr->rotary ? attr->rotary : D) / 2, attr->halves};
    return r;
}

/* From the first column of a pair to the second. */
ROTATION_INLINE int64_t rotation_distance(const Rotation *r)
{
    return r->halves ? r->half : 1;
}

/* The first column of pair i of a head. */
ROTATION_INLINE int64_t rotation_column(const Rotation *r, int64_t head, int64_t i)
{
    return head * r->head_dim + (r->halves ? i : 2 * i);
}

/* Columns of a row that are not turned: those after the pairs of each head, then those after the heads. */
ROTATION_INLINE int64_t rotation_resting(const Rotation *r, int64_t width)
{
    return width - r->heads * 2 * r->half;
}

/* The n-th of them. */
ROTATION_INLINE int64_t rotation_resting_column(const Rotation *r, int64_t n)
{
    const int64_t each = r->head_dim - 2 * r->half;
    if (n >= r->heads * each) return r->heads * 2 * r->half + n;
    return n / each * r->head_dim + 2 * r->half + n % each;
}
