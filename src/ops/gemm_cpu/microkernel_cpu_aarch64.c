#include "ops/gemm_cpu/microkernel_cpu_aarch64.h"

const Microkernel *const microkernel_list[] = {&microkernel_bfmmla, &microkernel_neon,
                                               &microkernel_plain, NULL};
