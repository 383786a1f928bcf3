/* GEMMs by the system's CBLAS, row-major. blas_cpu_NAME.c is for the library of this build. */
#pragma once

#include "ops/gemm_cpu/gemm_operands.h"

/* All operands are DT_F32, or DT_F64 for the reference of a whole step; every size must fit 31
 * bits. It runs on as many of our threads as blas_cpu_set_threads() said, each of which calls
 * the library for blocks of the result; inside a region on the calling thread alone. */
void blas_cpu_gemm(const GemmOperands *g);
void blas_cpu_set_threads(int threads);
/* From here on the library divides a GEMM among threads of its own: its own speed, and bits that
 * depend on their number. blas_cpu_set_threads() ends it, and the library's threads. The library
 * never gets more threads than there are cores: its threads spin while they wait for one that has
 * no core. */
void blas_cpu_share_by_library(int threads);
const char *
blas_cpu_kernels(void); /* the CPU it has chosen its kernels for, in its own words: "SkylakeX" */
const char *blas_cpu_name(void); /* "BLIS 0.9.0 (skx)": version and kernels */

/* ---- parts of the above ---- */

/* blas_cpu_NAME.c: for calls of the library by the calling thread. */
void blas_cpu_set_library_threads(int threads);
/* blas_cpu_NAME.c: divides the GEMM into blocks that our threads take. */
void blas_cpu_gemm_blocks(const GemmOperands *g, int threads);
/* blas_block_cpu.c: rows [row, row + rows) and columns [column, column + columns) of the result,
 * by one call of the library. */
void blas_block(const GemmOperands *g, int64_t row, int64_t rows, int64_t column, int64_t columns);
