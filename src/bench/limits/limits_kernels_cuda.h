/* The kernels that a GPU's limits are measured with. */
#pragma once

#include "backend/cuda_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ways to walk through memory: how much each thread has under way at once, and whether the cache is told
 * that nothing will be used again. Which is fastest differs between GPUs. */
enum { LIMITS_KERNELS_WAYS = 8, LIMITS_KERNELS_UNIT = 1 << 20 };

typedef enum LimitsKernel {
    LIMITS_KERNEL_READ,
    LIMITS_KERNEL_WRITE,
    LIMITS_KERNEL_COPY
} LimitsKernel;

/* Over `bytes`, a multiple of LIMITS_KERNELS_UNIT, in accesses of 16 bytes. `to` of a read is 4 bytes that
 * are never written; `from` of a write is not read. Queued on the device's stream. */
Status limits_kernels_walk(Backend *be, LimitsKernel kernel, int way, void *to, const void *from,
                           size_t bytes);

Status limits_kernels_empty(Backend *be); /* one thread that does nothing */

#ifdef __cplusplus
}
#endif
