#include "ops/impls_cpu.h"

const OpImpl cast_cpu[] = {{0}};
