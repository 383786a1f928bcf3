#include "ops/impls_cpu.h"

const OpImpl rotate_pairs_cpu[] = {{0}};
