/* The micro-kernels of x86-64. Each is compiled for its own instructions and called where the CPU
 * has them. */
#pragma once

#include "ops/gemm_cpu/microkernel_cpu.h"

#include <immintrin.h>

extern const Microkernel microkernel_amx;         /* bf16 -> fp32, in tiles of 16 x 16 */
extern const Microkernel microkernel_amx_2bf16;   /* fp16 -> fp32, each split into two of bf16 */
extern const Microkernel microkernel_avx512_bf16; /* bf16 -> fp32 */
extern const Microkernel microkernel_avx512;      /* fp32 */
extern const Microkernel microkernel_avx2;        /* fp32 */

/* static void multiply() of a micro-kernel whose tile is MR x VECTORS registers of `bits` bits, LANES
 * floats each. `x` and `y` count in Numbers: floats, or pairs of bf16. LOAD_ROW(y) are those of b in a
 * register, EVERYWHERE(x) is one of a in all its places, ADD(sum, number, row) multiplies them.
 * AHEAD_A and AHEAD_B Numbers ahead are prefetched; AHEAD_B of 0: none of b. */
#define MICROKERNEL_X86_64(instructions, bits, Number, Row)                                   \
    __attribute__((target(instructions))) static void multiply(                               \
        int64_t groups, const void *a, const void *b, const MicrokernelTile *tile)            \
    {                                                                                         \
        const Number *x = a, *y = b;                                                          \
        const float *from = tile->from;                                                       \
        __m##bits sum[MR][VECTORS];                                                           \
        _Pragma("GCC unroll 12") for (int i = 0; i < MR; i++)                                 \
        {                                                                                     \
            for (int j = 0; j < VECTORS; j++) {                                               \
                sum[i][j] = from ? _mm##bits##_loadu_ps(from + i * tile->ld_from + j * LANES) \
                                 : _mm##bits##_setzero_ps();                                  \
            }                                                                                 \
        }                                                                                     \
        for (int64_t k = 0; k < groups; k++, x += MR, y += NR) {                              \
            Row row[VECTORS];                                                                 \
            _mm_prefetch((const char *)(x + AHEAD_A), _MM_HINT_T0);                           \
            for (int j = 0; AHEAD_B > 0 && j < VECTORS; j++) {                                \
                _mm_prefetch((const char *)(y + AHEAD_B + j * LANES), _MM_HINT_T0);           \
            }                                                                                 \
            for (int j = 0; j < VECTORS; j++) row[j] = LOAD_ROW(y + j * LANES);               \
            for (int i = 0; i < MR; i++) {                                                    \
                const Row number = EVERYWHERE(x + i);                                         \
                for (int j = 0; j < VECTORS; j++) sum[i][j] = ADD(sum[i][j], number, row[j]); \
            }                                                                                 \
        }                                                                                     \
        _Pragma("GCC unroll 12") for (int i = 0; i < MR; i++)                                 \
        {                                                                                     \
            for (int j = 0; j < VECTORS; j++)                                                 \
                _mm##bits##_storeu_ps(tile->to + i * tile->ld_to + j * LANES, sum[i][j]);     \
        }                                                                                     \
    }
