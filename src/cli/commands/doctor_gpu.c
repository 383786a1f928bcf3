#include "cli/commands/doctor_gpu.h"

#include "backend/backend.h"
#include "base/human.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void doctor_gpu_examine(DoctorGpu *gpu)
{
    *gpu = (DoctorGpu){.built = !backend_api(BACKEND_cuda)->absent};
    gpu_libraries_read(&gpu->libraries);
    NvmlInfo *nvml = nvml_info_open(NULL);
    if (!nvml) return;
    gpu->there = true;
    nvml_info_read(nvml, &gpu->reading);
    nvml_info_close(nvml);
}

void doctor_gpu_name(Text *out, const DoctorGpu *gpu)
{
    const NvmlReading *r = &gpu->reading;
    if (!gpu->there) {
        text_puts(out, "none seen");
        return;
    }
    text_printf(out, "%s, %s, driver %s", *r->name ? r->name : "a GPU",
                human_bytes((double)r->memory_total).s, *r->driver ? r->driver : "unknown");
}

static const char *or_none(const char *version)
{
    return *version ? version : "not there";
}

static void put_clocks(Text *out, const NvmlReading *r)
{
    text_printf(out, "- clocks: SM %d of %d MHz, memory %d of %d MHz\n", r->sm_mhz, r->sm_max_mhz,
                r->memory_mhz, r->memory_max_mhz);
    text_puts(out, "- power: ");
    text_printf(out, isnan(r->watts) ? "not shown" : "%.0f W", r->watts);
    if (!isnan(r->limit_watts)) text_printf(out, " of %.0f W", r->limit_watts);
    if (!isnan(r->celsius)) text_printf(out, "; %.0f degrees Celsius", r->celsius);
    text_puts(out, "\n- slowed down now by: ");
    uint64_t reasons = r->throttle;
    const char *reason = nvml_info_next_reason(&reasons);
    if (!reason) text_puts(out, "nothing");
    for (const char *separator = ""; reason; reason = nvml_info_next_reason(&reasons)) {
        text_printf(out, "%s%s", separator, reason);
        separator = ", ";
    }
    text_puts(out, "\n");
}

void doctor_gpu_put(Text *out, const DoctorGpu *gpu)
{
    const NvmlReading *r = &gpu->reading;
    if (!gpu->there && !gpu->built) return;
    text_puts(out, "\n## GPU\n\n- ");
    doctor_gpu_name(out, gpu);
    if (gpu->there) {
        if (*r->cuda) text_printf(out, " (CUDA up to %s)", r->cuda);
        if (*r->bus_id) text_printf(out, ", bus id %s", r->bus_id);
        text_printf(out, "\n- memory in use: %s\n", human_bytes((double)r->memory_used).s);
        put_clocks(out, r);
    } else {
        text_puts(out, ": the driver's libnvidia-ml.so.1 is not there or shows none\n");
    }
    if (!gpu->built) return;
    text_printf(out, "- libraries: CUDA runtime %s, cuBLASLt %s, cuDNN %s\n",
                or_none(gpu->libraries.cuda), or_none(gpu->libraries.cublaslt),
                or_none(gpu->libraries.cudnn));
}

/* "12.4" is older than "13.0": the major version decides. */
static bool too_old(const char *driver, const char *runtime)
{
    return *driver && *runtime && strtol(driver, NULL, 10) < strtol(runtime, NULL, 10);
}

void doctor_gpu_advise(Text *out, const DoctorGpu *gpu, bool compiler)
{
    if (gpu->there && !gpu->built) {
        text_printf(out, "There is a GPU, and this build has no CUDA engine: %s\n",
                    compiler ? "cmake --preset cuda && cmake --build --preset cuda."
                             : "install the CUDA toolkit 12 or newer, then build the preset cuda.");
    }
    if (gpu->built && !gpu->there) {
        text_puts(out, "The CUDA engine needs a GPU and NVIDIA's driver, which shows none.\n");
    }
    if (gpu->built && too_old(gpu->reading.cuda, gpu->libraries.cuda)) {
        text_printf(out,
                    "The driver serves CUDA %s and this build needs %s: install a newer driver.\n",
                    gpu->reading.cuda, gpu->libraries.cuda);
    }
    if (gpu->built && !*gpu->libraries.cudnn) {
        text_puts(out,
                  "Without cuDNN attention is slower: install libcudnn9-dev and build again.\n");
    }
    if (gpu->there && gpu->reading.memory_used > gpu->reading.memory_total / 20) {
        text_printf(out, "%s of the GPU's memory is in use: other programs may run there.\n",
                    human_bytes((double)gpu->reading.memory_used).s);
    }
}
