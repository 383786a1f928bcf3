/* What the CUDA implementations of ops may use. Only files named *cuda* or *cudnn* include it. */
#ifndef BACKEND_CUDA_BACKEND_H
#define BACKEND_CUDA_BACKEND_H

#include "backend/backend.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_BACKEND_OWNED = 8, CUDA_BACKEND_SLOT = 256 /* bytes */, CUDA_BACKEND_SLOTS = 4096 };

/* Something a library made for this device, released when it is closed. */
typedef struct CudaOwned {
    void *object;
    void (*release)(void *object);
} CudaOwned;

struct Backend {
    int device;
    int processors; /* streaming multiprocessors */
    int capability; /* 90 for sm_90 */
    cudaStream_t stream;
    cublasLtHandle_t lt;
    void *
        cudnn; /* cudnnHandle_t; made when it is first asked for (ops/attention_cuda/cudnn_graph.c) */
    struct AttentionPlans
        *attention;          /* compiled for a shape (ops/attention_cuda/attention_cudnn.c) */
    struct DiskCache *tuner; /* chosen algorithms by shape (ops/cuda/matmul_tuner_cuda.c) */
    CudaOwned owned[CUDA_BACKEND_OWNED];
    int n_owned;
    cudaEvent_t marks[BACKEND_MARKS];
    char *slots; /* of CUDA_BACKEND_SLOT bytes */
    int n_slots; /* that were given away */
};

/* `release(object)` is called when the device is closed. */
Status cuda_backend_own(Backend *be, void *object, void (*release)(void *));

/* Device memory for one node's call of a library that asks for `bytes` of workspace, shared with no other; NULL where
 * that is too much, or nothing, or all slots are taken. */
void *cuda_backend_slot(Backend *be, size_t bytes);

Status cuda_backend_status(cudaError_t error, const char *call, const char *file, int line);
Status cuda_backend_blas_status(cublasStatus_t error, const char *call, const char *file, int line);
#define TRY_CUDA(call)   TRY(cuda_backend_status((call), #call, __FILE__, __LINE__))
#define TRY_CUBLAS(call) TRY(cuda_backend_blas_status((call), #call, __FILE__, __LINE__))

/* After a kernel launch: wrong launch parameters, and errors of earlier work. */
#define TRY_LAUNCH() \
    TRY(cuda_backend_status(cudaGetLastError(), "kernel launch", __FILE__, __LINE__))

#ifdef __cplusplus
}
#endif
#endif
