/* The micro-kernels of 64-bit Arm. */
#pragma once

#include "ops/gemm_cpu/microkernel_cpu.h"

extern const Microkernel microkernel_bfmmla; /* bf16 -> fp32, Armv8.6 */
extern const Microkernel microkernel_neon;   /* fp32, every one of them */

/* clang-format off */
/* static void multiply() of a micro-kernel whose sums are in v8 to v31. It takes an odd group
 * first, then groups in pairs. `even` and `odd` are the instructions of a group, the second of
 * which counts; a_bytes and b_bytes are those of a group. load, zero and store are the instructions
 * of all sums. */
#define MICROKERNEL_AARCH64(define, load, zero, even, odd, store, forget, align, a_bytes, b_bytes)        \
    static void multiply(int64_t groups, const void *a, const void *b, const MicrokernelTile *tile)     \
    {                                                                                                   \
        const int64_t size = (int64_t)sizeof(float), step_to = tile->ld_to * size;                      \
        int64_t step = tile->ld_from * size;                                                            \
        const float *c = tile->from;                                                                    \
        __asm__ volatile(                                                                               \
            define                                                                                      \
            "cbz %[c], 1f\n" load "b 2f\n"                                                              \
            "1:\n" zero                                                                                 \
            "2:\n"                                                                                      \
            "tbz %[groups], #0, 3f\n" even                                                              \
            "add %[a], %[a], %[a_group]\n"                                                              \
            "add %[b], %[b], %[b_group]\n"                                                              \
            "3:\n"                                                                                      \
            "lsr %[groups], %[groups], #1\n"                                                            \
            "cbz %[groups], 5f\n" align                                                                 \
            "4:\n" even odd                                                                             \
            "add %[b], %[b], %[b_group] * 2\n"                                                          \
            "add %[a], %[a], %[a_group] * 2\n"                                                          \
            "b.ne 4b\n"                                                                                 \
            "5:\n"                                                                                      \
            "mov %[c], %[to]\n"                                                                         \
            "mov %[step], %[step_to]\n" store                                                           \
            forget                                                                                      \
            : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [groups] "+&r"(groups), [step] "+&r"(step)      \
            : [to] "r"(tile->to), [step_to] "r"(step_to), [a_group] "i"(a_bytes), [b_group] "i"(b_bytes) \
            : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", \
              "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",       \
              "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");                                  \
    }
/* clang-format on */
