/* Plans for a CPU have no such nodes (model/transform_fp8_fuse.c): where a test has one, its reference
 * runs. */
#include "ops/cpu/impls_cpu.h"

const OpImpl swiglu_fp8_cpu[] = {{0}};
const OpImpl swiglu_fp8_grad_cpu[] = {{0}};
