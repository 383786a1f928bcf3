#include "ops/cpu/impls_cpu.h"

/* A counting sort of N K numbers takes no time: the reference runs. */
const OpImpl expert_rows_cpu[] = {{0}};
