#include "backend/cuda_backend.h"

Status cuda_backend_status(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return ST_OK;
    (void)cudaGetLastError(); /* clears an error that is not sticky */
    if (error == cudaErrorNoKernelImageForDevice) {
        return FAIL(ST_UNSUPPORTED,
                    "this program was not compiled for this GPU: compile it on this machine "
                    "(with CUDA 12 if the GPU is older than compute capability 7.5)");
    }
    const Status code = error == cudaErrorMemoryAllocation ? ST_NO_MEMORY : ST_DEVICE;
    return FAIL(code, "CUDA: %s (%s)", cudaGetErrorString(error), call);
}
