#include "ops/microkernel_cpu_aarch64.h"

const Microkernel *const microkernel_list[] = {&microkernel_bfmmla, &microkernel_plain, NULL};
