/* Memory of GPUs that is taken, by whomever, as the driver tells it: what a cell and the libraries it uses
 * take is the difference between before they were started and now. */
#ifndef BENCH_MEASURE_GPU_MEMORY_H
#define BENCH_MEASURE_GPU_MEMORY_H

#include "backend/nvml_info.h"

enum { GPU_MEMORY_MOST = 32 };

typedef struct GpuMemory {
    NvmlTaken gpu[GPU_MEMORY_MOST];
    int n;
} GpuMemory;

/* Opens no GPU, so that a context that is made later counts. */
void gpu_memory_read(GpuMemory *out);
/* Bytes of CUDA's device number `device`, which is open, taken since; NAN when nobody tells. What other
 * programs took or gave back meanwhile counts too: the driver does not tell them apart in a container. */
double gpu_memory_grown(const GpuMemory *before, int device);

#endif
