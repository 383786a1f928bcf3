/* What NVIDIA's driver tells of a GPU: name, clocks, power, energy, what slows it down. Through NVML,
 * which is loaded when it is there; without it, or without a GPU, there is nothing to tell, which is
 * never an error. Does not open the GPU for computing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct NvmlInfo NvmlInfo;

/* `which` is a number ("0"), a PCI bus id ("0000:1B:00.0") or a UUID ("GPU-..."); NULL is the first
 * that CUDA_VISIBLE_DEVICES leaves. NULL when there is none such. */
NvmlInfo *nvml_info_open(const char *which);
void nvml_info_close(NvmlInfo *gpu); /* NULL is fine */

/* What the GPU does not tell is "", 0 or, where 0 means something, NAN. */
typedef struct NvmlReading {
    char name[96];
    char driver[80];
    char cuda[16]; /* the newest version that the driver serves: "13.0" */
    char bus_id[32];
    int sm_mhz, sm_max_mhz, memory_mhz, memory_max_mhz;
    double watts, limit_watts, celsius;
    int64_t memory_total, memory_used; /* bytes */
    uint64_t throttle;                 /* why its clock is not what it could be */
} NvmlReading;

void nvml_info_read(NvmlInfo *gpu, NvmlReading *out);

/* Energy since the driver was loaded; differences count. False when the GPU does not tell. */
bool nvml_info_energy(NvmlInfo *gpu, double *joules);

/* The share of the last moments (up to a second) in which a kernel ran, anybody's. */
bool nvml_info_use(NvmlInfo *gpu, double *share);

/* Memory taken of each GPU of the machine, by whomever. Returns how many there are, `most` at most; 0
 * when nobody tells. */
typedef struct NvmlTaken {
    char bus_id[32]; /* as in NvmlReading */
    int64_t bytes;
} NvmlTaken;
int nvml_info_taken(NvmlTaken *list, int most);

/* The reasons that make results slower than the GPU is; 0 when nothing does (idleness and clocks that
 * somebody set are none). */
uint64_t nvml_info_slowed(NvmlInfo *gpu);

/* One reason at a time, for people: the lowest bit of *reasons, which is cleared; NULL when none is
 * left. */
const char *nvml_info_next_reason(uint64_t *reasons);
