#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"

const Microkernel *const microkernel_list[] = {&microkernel_amx,
                                               &microkernel_amx_2bf16,
                                               &microkernel_avx512_bf16,
                                               &microkernel_avx512,
                                               &microkernel_avx2,
                                               &microkernel_plain,
                                               NULL};
