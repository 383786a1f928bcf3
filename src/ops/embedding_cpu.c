#include "ops/impls_cpu.h"

const OpImpl embedding_cpu[] = {{0}};
const OpImpl embedding_grad_cpu[] = {{0}};
