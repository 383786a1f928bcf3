#include "ops/impls_cpu.h"

const OpImpl unary_cpu[] = {{0}};
const OpImpl unary_grad_cpu[] = {{0}};
