#include "ops/gemm_cpu/microkernel_cpu.h"

#include "backend/cpu_features.h"

#include <stdio.h>

static bool runs(const Microkernel *kernel)
{
    return !kernel->needs || cpu_features_has(kernel->needs);
}

MicrokernelNames microkernel_names(void)
{
    MicrokernelNames names = {""};
    size_t n = 0;
    for (const Microkernel *const *kernel = microkernel_list; *kernel; kernel++) {
        if (!runs(*kernel) || n >= sizeof names.s) continue;
        const int wrote =
            snprintf(names.s + n, sizeof names.s - n, "%s%s", n ? " " : "", (*kernel)->name);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    return names;
}

const Microkernel *microkernel_find(DType operand)
{
    for (const Microkernel *const *kernel = microkernel_list; *kernel; kernel++) {
        if ((*kernel)->operand == operand && runs(*kernel)) return *kernel;
    }
    return NULL;
}
