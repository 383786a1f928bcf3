#include "ops/impls_cpu.h"

const OpImpl swiglu_cpu[] = {{0}};
const OpImpl swiglu_grad_cpu[] = {{0}};
