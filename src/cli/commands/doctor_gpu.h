/* The GPU's part of `doctor`. */
#ifndef CLI_COMMANDS_DOCTOR_GPU_H
#define CLI_COMMANDS_DOCTOR_GPU_H

#include "backend/gpu_libraries.h"
#include "backend/nvml_info.h"
#include "base/text.h"

typedef struct DoctorGpu {
    bool built;          /* this build has the CUDA engine */
    bool there;          /* the driver shows a GPU */
    NvmlReading reading; /* when it does */
    GpuLibraries libraries;
} DoctorGpu;

void doctor_gpu_examine(DoctorGpu *gpu);
/* "NVIDIA H200, 140 GiB, driver 580.65"; "none seen". */
void doctor_gpu_name(Text *out, const DoctorGpu *gpu);
/* A section of its own; nothing where there is neither a GPU nor a build for one. */
void doctor_gpu_put(Text *out, const DoctorGpu *gpu);
/* Lines of advice. `compiler`: nvcc is installed. */
void doctor_gpu_advise(Text *out, const DoctorGpu *gpu, bool compiler);

#endif
