/* GEMMs by the system's CBLAS, row-major. blas_cpu_NAME.c is for the library of this build. */
#pragma once

#include "ops/gemm_cpu/gemm_operands.h"

/* All operands are DT_F32, or DT_F64 for the reference of a whole step; every size must fit 31 bits. It runs
 * on as many threads as blas_cpu_set_threads() said; inside a parallel region on the calling thread alone. */
void blas_cpu_gemm(const GemmOperands *g);
/* Rows [row, row + rows) and columns [column, column + columns) of the result, by one call of the
 * library. For blas_cpu_NAME.c, which decides how a GEMM is divided among threads. */
void blas_cpu_gemm_block(const GemmOperands *g, int64_t row, int64_t rows, int64_t column,
                         int64_t columns);
void blas_cpu_set_threads(int threads);
/* From here on the library divides a GEMM among the threads itself: its own speed, and bits that
 * depend on the number of threads. blas_cpu_set_threads() ends it. The library never gets more
 * threads than there are cores: its threads spin while they wait for one that has no core. */
void blas_cpu_share_by_library(int threads);
const char *
blas_cpu_kernels(void); /* the CPU it has chosen its kernels for, in its own words: "SkylakeX" */
const char *blas_cpu_name(void); /* "BLIS 0.9.0 (skx)": version and kernels */
