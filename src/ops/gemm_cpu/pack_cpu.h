/* Packing: lines of a matrix are copied or widened into the micro-panels of a micro-kernel. A
 * transposed operand differs in two strides alone, so nothing is transposed in memory first.
 *
 * pack_cpu_panel() is written once and inlined with constant lines, KR and dtypes: PACK_CPU defines
 * the packer of a micro-kernel. */
#pragma once

#include "base/i64.h"
#include "ops/element.h"
#include "ops/simd_cpu/rows_cpu.h"

/* Number k of line r is element r * line_step + k * k_step; one of the two strides is 1. */
typedef struct PackSource {
    const void *data;
    DType dtype;
    int64_t line_step, k_step;
    bool *unpackable; /* set where micro-panels cannot hold a number; NULL: they hold every one */
} PackSource;

/* Lines are the rows of x, or its columns. */
static inline PackSource pack_cpu_rows(Operand x)
{
    return (PackSource){x.data, x.dtype, x.ld, 1, NULL};
}

static inline PackSource pack_cpu_columns(Operand x)
{
    return (PackSource){x.data, x.dtype, 1, x.ld, NULL};
}

/* Packs `lines` lines from `line` on, `k` numbers of each from `first_k` on. What fills up a whole
 * micro-panel is zeros, which add nothing to the sums that count. */
typedef void PackPanel(void *restrict dst, const PackSource *src, int64_t line, int64_t lines,
                       int64_t first_k, int64_t k);

#define PACK_CPU_INLINE static inline __attribute__((always_inline))

PACK_CPU_INLINE void pack_cpu_copy(void *restrict dst, int64_t to, const void *restrict src,
                                   int64_t from, DType as, DType dtype)
{
    if (as == DT_BF16) {
        ((uint16_t *)dst)[to] = ((const uint16_t *)src)[from];
    } else if (dtype == DT_BF16) {
        ((float *)dst)[to] = float16_from_bf16(((const uint16_t *)src)[from]);
    } else if (dtype == DT_F16) {
        ((float *)dst)[to] = float16_from_f16(((const uint16_t *)src)[from]);
    } else {
        ((float *)dst)[to] = ((const float *)src)[from];
    }
}

typedef float PackFour __attribute__((vector_size(16), aligned(4)));

/* Four numbers of four lines: dst[q * panel + r] = src[r * line_step + q]. */
PACK_CPU_INLINE void pack_cpu_transpose(float *restrict dst, const float *restrict src,
                                        int64_t line_step, int panel)
{
    PackFour x[4];
    for (int r = 0; r < 4; r++) x[r] = *(const PackFour *)(src + r * line_step);
    const PackFour low01 = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    const PackFour high01 = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    const PackFour low23 = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const PackFour high23 = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    *(PackFour *)dst = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    *(PackFour *)(dst + panel) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    *(PackFour *)(dst + 2 * panel) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    *(PackFour *)(dst + 3 * panel) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

/* Lines of floats side by side in the panel, as far as k goes in fours; returns how far. */
PACK_CPU_INLINE int64_t pack_cpu_transpose_all(float *restrict dst, const float *restrict src,
                                               int64_t line_step, int64_t k, int panel)
{
    const int64_t done = panel % 4 == 0 ? k / 4 * 4 : 0;
    for (int64_t g = 0; g < done; g += 4) {
        for (int r = 0; r < panel; r += 4) {
            pack_cpu_transpose(dst + g * panel + r, src + g + r * line_step, line_step, panel);
        }
    }
    return done;
}

/* Whole groups of whole micro-panels whose numbers lie together along a line. */
PACK_CPU_INLINE void pack_cpu_along(void *restrict dst, const void *restrict src, int64_t line_step,
                                    int64_t groups, int panel, int kr, DType as, DType dtype)
{
    const size_t size = as == DT_BF16 ? 2 : 4;
    const bool transpose = as == DT_F32 && dtype == DT_F32 && kr == 1;
    int64_t g = transpose ? pack_cpu_transpose_all(dst, src, line_step, groups, panel) : 0;
    for (; g < groups; g++) {
        for (int r = 0; r < panel; r++) {
            const int64_t to = (g * panel + r) * kr, from = g * kr + r * line_step;
            if (as == dtype) {
                memcpy((char *)dst + (size_t)to * size, (const char *)src + (size_t)from * size,
                       (size_t)kr * size);
                continue;
            }
            for (int q = 0; q < kr; q++) pack_cpu_copy(dst, to + q, src, from + q, as, dtype);
        }
    }
}

/* The same where the neighbours of a number are those of other lines. Four numbers of k are
 * interleaved in one statement each, so that compilers see the store that interleaves. */
PACK_CPU_INLINE void pack_cpu_across(void *restrict dst, const void *restrict src, int64_t k_step,
                                     int64_t groups, int panel, int kr, DType as, DType dtype)
{
    for (int64_t g = 0; g < groups; g++) {
        const int64_t to = g * panel * kr, from = g * kr * k_step;
#pragma omp simd
        for (int r = 0; r < panel; r++) {
            if (kr == 4) {
                pack_cpu_copy(dst, to + 4 * r, src, from + r, as, dtype);
                pack_cpu_copy(dst, to + 4 * r + 1, src, from + r + k_step, as, dtype);
                pack_cpu_copy(dst, to + 4 * r + 2, src, from + r + 2 * k_step, as, dtype);
                pack_cpu_copy(dst, to + 4 * r + 3, src, from + r + 3 * k_step, as, dtype);
                continue;
            }
            for (int q = 0; q < kr; q++) {
                pack_cpu_copy(dst, to + r * kr + q, src, from + r + q * k_step, as, dtype);
            }
        }
    }
}

PACK_CPU_INLINE void pack_cpu_ragged(void *restrict dst, const void *restrict src,
                                     int64_t line_step, int64_t k_step, int64_t lines, int64_t k,
                                     int panel, int kr, DType as, DType dtype)
{
    const int64_t groups = i64_ceil_div(k, kr);
    memset(dst, 0, (size_t)(groups * panel * kr) * (as == DT_BF16 ? 2 : 4));
    for (int64_t i = 0; i < k; i++) {
        for (int64_t r = 0; r < lines; r++) {
            const int64_t to = (i / kr * panel + r) * kr + i % kr;
            pack_cpu_copy(dst, to, src, r * line_step + i * k_step, as, dtype);
        }
    }
}

PACK_CPU_INLINE void pack_cpu_typed(void *restrict dst, const PackSource *src, int64_t line,
                                    int64_t lines, int64_t first_k, int64_t k, int panel, int kr,
                                    DType as, DType dtype)
{
    const void *from = rows_cpu_at(src->data, dtype, line * src->line_step + first_k * src->k_step);
    const int64_t whole = lines == panel ? k / kr : 0, done = whole * kr;
    if (src->k_step == 1) {
        pack_cpu_along(dst, from, src->line_step, whole, panel, kr, as, dtype);
    } else {
        pack_cpu_across(dst, from, src->k_step, whole, panel, kr, as, dtype);
    }
    if (done < k) {
        pack_cpu_ragged(rows_cpu_at(dst, as, done * panel),
                        rows_cpu_at(from, dtype, done * src->k_step), src->line_step, src->k_step,
                        lines, k - done, panel, kr, as, dtype);
    }
}

PACK_CPU_INLINE void pack_cpu_panel(void *restrict dst, const PackSource *src, int64_t line,
                                    int64_t lines, int64_t first_k, int64_t k, int panel, int kr,
                                    DType as)
{
    if (as == DT_BF16 || src->dtype == DT_BF16) {
        pack_cpu_typed(dst, src, line, lines, first_k, k, panel, kr, as, DT_BF16);
    } else if (src->dtype == DT_F16) {
        pack_cpu_typed(dst, src, line, lines, first_k, k, panel, kr, as, DT_F16);
    } else if (src->dtype != DT_F32) {
        plan_dtype_unknown(src->dtype, "pack_cpu_panel()");
    } else {
        pack_cpu_typed(dst, src, line, lines, first_k, k, panel, kr, as, DT_F32);
    }
}

/* static PackPanel NAME: micro-panels of `panel` lines, `kr` numbers together, stored as `as`. */
#define PACK_CPU(name, panel, kr, as)                                                        \
    static void name(void *restrict dst, const PackSource *src, int64_t line, int64_t lines, \
                     int64_t first_k, int64_t k)                                             \
    {                                                                                        \
        pack_cpu_panel(dst, src, line, lines, first_k, k, panel, kr, as);                    \
    }
