#include "ops/microkernel_cpu.h"

#include "backend/cpu_features.h"

const Microkernel *microkernel_find(DType operand)
{
    for (const Microkernel *const *kernel = microkernel_list; *kernel; kernel++) {
        const char *needs = (*kernel)->needs;
        if ((*kernel)->operand == operand && (!needs || cpu_features_has(needs))) return *kernel;
    }
    return NULL;
}
