/* The microkernels of 64-bit Arm. */
#ifndef OPS_GEMM_CPU_MICROKERNEL_CPU_AARCH64_H
#define OPS_GEMM_CPU_MICROKERNEL_CPU_AARCH64_H

#include "ops/gemm_cpu/microkernel_cpu.h"

extern const Microkernel microkernel_bfmmla; /* bf16 -> fp32, Armv8.6 */
extern const Microkernel microkernel_neon;   /* fp32, every one of them */

#endif
