#include "ops/impls_cpu.h"

const OpImpl pick_cpu[] = {{0}};
const OpImpl pick_grad_cpu[] = {{0}};
