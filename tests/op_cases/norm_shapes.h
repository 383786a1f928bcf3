/* Rows and widths for the norms over rows: widths that are tiny, odd, prime, and a model's own; then
 * those of a GPU's kernels (ops/cuda/norm_rows_cuda.cuh), which the cases of a CPU only touch. */
#pragma once

#include "op_cases.h"

/* A row of one element has no variance: LayerNorm, whose gradient there is a difference of equal
 * numbers, begins with the second shape. The first ones serve differences, too, which run a case over
 * and over. After them: more rows than a GPU runs at once, more than it keeps partial sums of, long
 * rows, longer than threads hold. */
static const int64_t norm_shapes[][2] = {{1, 1},    {1, 2},    {3, 3},    {5, 33},  {7, 101},
                                         {17, 128}, {9, 768},  {130, 31}, {700, 9}, {4500, 8},
                                         {3, 5000}, {2, 8192}, {2, 8200}, {2, 4099}};
enum { NORM_SHAPES = sizeof norm_shapes / sizeof *norm_shapes, NORM_SMALL_SHAPES = 8 };

/* Blocks that take several long rows, one after the other: the longest and the shortest rows of two
 * quads a thread and of four; and several rows at a time whose last threads have no columns. */
static const int64_t norm_long_shapes[][2] = {{1400, 520}, {300, 4096}, {300, 4104}, {270, 8192}};
enum { NORM_LONG_SHAPES = sizeof norm_long_shapes / sizeof *norm_long_shapes };

typedef struct NormShape {
    int64_t rows, cols;
    bool residual;
} NormShape;

/* Case i, of shapes from `first` on: each without the residual and with it, long ones with it.
 * False when there is no such case. */
static inline bool norm_shape(int i, int first, DType act, NormShape *shape)
{
    const int n = 2 * ((act == DT_F64 ? NORM_SMALL_SHAPES : NORM_SHAPES) - first);
    const bool is_long = i >= n;
    if (is_long && (!op_cases_gpu || act == DT_F64 || i - n >= NORM_LONG_SHAPES)) return false;
    const int64_t *s = is_long ? norm_long_shapes[i - n] : norm_shapes[first + i / 2];
    *shape = (NormShape){s[0], s[1], is_long || i % 2};
    return true;
}
