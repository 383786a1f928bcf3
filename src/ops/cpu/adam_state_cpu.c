/* Sixteen numbers: the reference is as fast as anything. */
#include "ops/cpu/impls_cpu.h"

const OpImpl adam_state_cpu[] = {{0}};
