#include "ops/impls_cpu.h"

const OpImpl rope_cpu[] = {{0}};
