/* Memory in use on the GPUs, as the driver counts it: a cell and its libraries hold the difference
 * between before they started and now. */
#pragma once

#include "backend/nvml_info.h"

enum { GPU_MEMORY_MOST = 32 };

typedef struct GpuMemory {
    NvmlMemoryUsed gpu[GPU_MEMORY_MOST];
    int n;
} GpuMemory;

/* Opens no GPU, so that a context that is made later counts. */
void gpu_memory_read(GpuMemory *out);
/* Bytes of CUDA's device number `device`, which is open, taken since; NAN when nobody tells. It includes
 * what other programs took or freed since: in a container the driver does not tell them apart. */
double gpu_memory_grown(const GpuMemory *before, int device);
