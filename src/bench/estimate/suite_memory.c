#include "bench/estimate/suite_memory.h"

#include "backend/cpu_info.h"
#include "backend/nvml_info.h"
#include "bench/estimate/fit.h"
#include "bench/estimate/recompute_fit.h"

static size_t gpu_room(void)
{
    NvmlReading reading = {0};
    NvmlInfo *gpu = nvml_info_open(NULL);
    if (gpu) nvml_info_read(gpu, &reading);
    nvml_info_close(gpu);
    const int64_t left = reading.memory_total - reading.memory_used;
    return left > 0 ? (size_t)left : SIZE_MAX;
}

size_t suite_memory_room(bool gpu)
{
    CpuInfo info;
    if (gpu) return gpu_room();
    return cpu_info_read(&info, "") == ST_OK ? (size_t)cpu_info_memory_left(&info) : SIZE_MAX;
}

/* The plan of one CPU thread stands for any device: they differ in workspaces alone. */
bool suite_memory_fits(const Config *configs, int n, size_t room)
{
    const Placement placement = {.backend = BACKEND_cpu, .threads = 1, .name = "cpu"};
    for (int i = 0; i < n; i++) {
        const Config *c = &configs[i];
        const size_t own = c->memory_limit > 0 ? (size_t)c->memory_limit : SIZE_MAX;
        size_t bytes = 0;
        if (recompute_fit_planned(c, &placement, c->mode, &bytes) != ST_OK) continue;
        if (bytes + fit_allowance(&placement) > (own < room ? own : room)) return false;
    }
    return true;
}
