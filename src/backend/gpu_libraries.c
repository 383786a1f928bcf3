#include "backend/gpu_libraries.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ISO C has no cast from an object's address to a function's. */
static bool find(const char *symbol, void *function, size_t size)
{
    void *const address = dlsym(RTLD_DEFAULT, symbol);
    memcpy(function, &address, size);
    return address != NULL;
}

/* 13000 -> 13.0 */
static void put_cuda(char text[GPU_LIBRARIES_TEXT])
{
    int (*version)(int *);
    int number = 0;
    if (!find("cudaRuntimeGetVersion", &version, sizeof version) || version(&number) != 0) return;
    snprintf(text, GPU_LIBRARIES_TEXT, "%d.%d", number / 1000, number % 1000 / 10);
}

/* 130101 -> 13.1.1 (unit 10000); 91400 -> 9.14.0 (unit 10000); 8907 -> 8.9.7 (unit 1000) */
static void put_version(const char *symbol, char text[GPU_LIBRARIES_TEXT])
{
    size_t (*version)(void);
    if (!find(symbol, &version, sizeof version)) return;
    const size_t number = version(), unit = number >= 10000 ? 10000 : 1000;
    snprintf(text, GPU_LIBRARIES_TEXT, "%zu.%zu.%zu", number / unit, number % unit / 100,
             number % 100);
}

void gpu_libraries_read(GpuLibraries *out)
{
    *out = (GpuLibraries){0};
    put_cuda(out->cuda);
    put_version("cublasLtGetVersion", out->cublaslt);
    put_version("cudnnGetVersion", out->cudnn);
}

bool gpu_libraries_bus_id(int device, char text[GPU_LIBRARIES_TEXT])
{
    int (*bus_id)(char *, int, int);
    if (!find("cudaDeviceGetPCIBusId", &bus_id, sizeof bus_id)) return false;
    return bus_id(text, GPU_LIBRARIES_TEXT, device) == 0;
}
