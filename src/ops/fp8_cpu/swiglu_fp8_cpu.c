/* Plans for a CPU have no such nodes (model/transform_fp8_fuse.c): the references run where a test has one. */
#include "ops/cpu/impls_cpu.h"

const OpImpl swiglu_fp8_cpu[] = {{0}};
const OpImpl swiglu_grad_fp8_cpu[] = {{0}};
