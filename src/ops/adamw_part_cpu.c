#include "ops/impls_cpu.h"

const OpImpl adamw_part_cpu[] = {{0}};
