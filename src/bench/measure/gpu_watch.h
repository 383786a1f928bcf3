/* What a GPU did while samples were taken: the energy it used, and whether something slowed it down.
 * Looks before and after, and some ten times a second between samples, never within one. */
#pragma once

#include "backend/nvml_info.h"
#include "bench/measure/cell_link.h"

typedef struct GpuWatch {
    NvmlInfo *gpu; /* NULL: there is none, or nobody tells */
    bool metered;  /* it tells its energy */
    double joules, started;
    int64_t steps; /* since the start */
    double looked_at;
    int looks, slow_looks;
    uint64_t reasons; /* all that were seen */
} GpuWatch;

/* `device` is CUDA's number; it is open already. */
void gpu_watch_open(GpuWatch *watch, int device);
void gpu_watch_close(GpuWatch *watch);

void gpu_watch_start(GpuWatch *watch);
/* After each sample: a step, or its phases. */
void gpu_watch_step(GpuWatch *watch);
/* Energy (bench/measure/energy.h), throttled, and a warning when something slowed it down. */
Status gpu_watch_tell(GpuWatch *watch, CellLink *link, double tokens_per_step);
