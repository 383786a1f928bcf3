/* Versions of NVIDIA's libraries in this process. Symbols are looked up at run time, so that builds
 * without CUDA have the same functions; there the versions are "". Opens no device. */
#pragma once

#include <stdbool.h>

enum { GPU_LIBRARIES_TEXT = 32 };

typedef struct GpuLibraries {
    char cuda[GPU_LIBRARIES_TEXT]; /* of the CUDA runtime: "13.0"; "": not loaded */
    char cublaslt[GPU_LIBRARIES_TEXT];
    char cudnn[GPU_LIBRARIES_TEXT];
} GpuLibraries;

void gpu_libraries_read(GpuLibraries *out);

/* The PCI bus id of a CUDA device. The device must be open already: asking opens it. */
bool gpu_libraries_bus_id(int device, char text[GPU_LIBRARIES_TEXT]);
