#include "ops/impls_cpu.h"

const OpImpl spread_cpu[] = {{0}};
