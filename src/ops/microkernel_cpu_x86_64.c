#include "ops/microkernel_cpu.h"

const Microkernel *const microkernel_list[] = {&microkernel_plain, NULL};
