/* The micro-kernels of x86-64. Each is compiled for its own instructions and called where the CPU
 * has them. */
#pragma once

#include "ops/gemm_cpu/microkernel_cpu.h"

extern const Microkernel microkernel_amx;         /* bf16 -> fp32, in tiles of 16 x 16 */
extern const Microkernel microkernel_amx_2bf16;   /* fp16 -> fp32, each split into two of bf16 */
extern const Microkernel microkernel_avx512_bf16; /* bf16 -> fp32 */
extern const Microkernel microkernel_avx512;      /* fp32 */
extern const Microkernel microkernel_avx2;        /* fp32 */
