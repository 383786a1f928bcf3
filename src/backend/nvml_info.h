/* Name, clocks, power, energy and throttle reasons of a GPU, from NVML, which is loaded at run time.
 * Without NVML or a GPU there are no values; that is never an error. Does not open the GPU for computing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct NvmlInfo NvmlInfo;

/* `which` is a number ("0"), a PCI bus id ("0000:1B:00.0") or a UUID ("GPU-..."); NULL is the first
 * of CUDA_VISIBLE_DEVICES. NULL: no such GPU. */
NvmlInfo *nvml_info_open(const char *which);
void nvml_info_close(NvmlInfo *gpu); /* NULL is fine */

/* Unknown values are "" or 0, and NAN where 0 is a value. */
typedef struct NvmlReading {
    char name[96];
    char driver[80];
    char cuda[16]; /* the newest version that the driver supports: "13.0" */
    char bus_id[32];
    int sm_mhz, sm_max_mhz, memory_mhz, memory_max_mhz;
    double watts, limit_watts, celsius;
    int64_t memory_total, memory_used; /* bytes */
    uint64_t throttle;                 /* NVML's throttle reasons, a bit each */
} NvmlReading;

void nvml_info_read(NvmlInfo *gpu, NvmlReading *out);

/* Energy since the driver was loaded. False: unknown. */
bool nvml_info_energy(NvmlInfo *gpu, double *joules);

/* GPU utilization: the share of the last sample period (up to a second) in which any process ran a kernel. */
bool nvml_info_utilization(NvmlInfo *gpu, double *share);

/* Memory in use on each GPU of the machine, by all processes. Returns the number of GPUs, at most
 * `most`; 0 when unknown. */
typedef struct NvmlMemoryUsed {
    char bus_id[32]; /* as in NvmlReading */
    int64_t bytes;
} NvmlMemoryUsed;
int nvml_info_memory_used(NvmlMemoryUsed *list, int most);

/* Throttle reasons that slow results down; 0: none. An idle GPU and clocks set by a user do not count. */
uint64_t nvml_info_throttled(NvmlInfo *gpu);

/* Text of the lowest bit of *reasons, and clears that bit; NULL when none is left. */
const char *nvml_info_next_reason(uint64_t *reasons);
