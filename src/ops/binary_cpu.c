#include "ops/impls_cpu.h"

const OpImpl binary_cpu[] = {{0}};
