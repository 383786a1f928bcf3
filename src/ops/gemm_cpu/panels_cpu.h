/* Small GEMMs on the calling thread: operands are packed whole, once, and multiplied as often as
 * needed. Results are floats with room for whole tiles, so that every tile is written in place. For
 * kernels that take every number: none with a `fallback`. */
#pragma once

#include "ops/gemm_cpu/microkernel_cpu.h"

typedef enum PanelSide { PANELS_A, PANELS_B } PanelSide; /* micro-panels of MR or of NR lines */

typedef struct Panels {
    const char *data;
    int64_t k; /* numbers of a line, whole groups of KR */
} Panels;

/* Bytes of panels, and of an m x n result; multiples of 64. */
int64_t panels_cpu_bytes(const Microkernel *kernel, PanelSide side, int64_t lines, int64_t k);
int64_t panels_cpu_result_bytes(const Microkernel *kernel, int64_t m, int64_t n);
/* From row to row of a result n wide. */
int64_t panels_cpu_ld(const Microkernel *kernel, int64_t n);

/* `to` is owned by the caller. */
Panels panels_cpu_pack(const Microkernel *kernel, PanelSide side, PackSource src, int64_t lines,
                       int64_t k, char *to);

/* c[m, n] = a b^T over the first k numbers of the lines; `add`: on top of what c holds. */
void panels_cpu_multiply(const Microkernel *kernel, Panels a, Panels b, int64_t m, int64_t n,
                         int64_t k, float *c, int64_t ldc, bool add);
