#include "bench/measure/gpu_memory.h"

#include "backend/gpu_libraries.h"

#include <math.h>
#include <string.h>

void gpu_memory_read(GpuMemory *out)
{
    out->n = nvml_info_memory_used(out->gpu, GPU_MEMORY_MOST);
}

static double grown_since(const GpuMemory *before, const NvmlReading *now)
{
    for (int i = 0; i < before->n; i++) {
        if (strcmp(before->gpu[i].bus_id, now->bus_id) != 0) continue;
        return (double)(now->memory_used - before->gpu[i].bytes);
    }
    return (double)NAN;
}

/* CUDA and the driver number GPUs differently: the bus id is the name both know. */
double gpu_memory_grown(const GpuMemory *before, int device)
{
    char bus_id[GPU_LIBRARIES_TEXT];
    NvmlReading now;
    NvmlInfo *gpu = gpu_libraries_bus_id(device, bus_id) ? nvml_info_open(bus_id) : NULL;
    if (!gpu) return (double)NAN;
    nvml_info_read(gpu, &now);
    nvml_info_close(gpu);
    return now.memory_total > 0 ? grown_since(before, &now) : (double)NAN;
}
