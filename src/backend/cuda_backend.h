/* What the CUDA implementations of ops may use. Only files named *cuda*, *cudnn* or *nccl* include it. */
#pragma once

#include "backend/backend.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_BACKEND_OBJECTS = 8, CUDA_BACKEND_SLOT = 256 /* bytes */, CUDA_BACKEND_SLOTS = 4096 };

/* A library's handle, or what an op keeps for this device. */
typedef struct CudaObject {
    void *object;
    void (*release)(void *object);
} CudaObject;

/* Of the second queue (backend/cuda_beside.c). */
typedef struct CudaPiece {
    cudaEvent_t begin, end; /* they tell the time */
    cudaEvent_t done;       /* the first queue waits for it */
} CudaPiece;

struct Backend {
    int device;
    int sms;                    /* streaming multiprocessors */
    int capability;             /* 90 for sm_90 */
    cudaStream_t stream;        /* that work goes to now: one of the next two */
    cudaStream_t first, second; /* the queues; second: NULL until it is opened */
    cudaEvent_t fork;           /* what the second queue waits for */
    CudaPiece *pieces;
    int n_pieces;
    bool capturing;
    CudaObject objects[CUDA_BACKEND_OBJECTS];
    int n_objects;
    cudaEvent_t marks[BACKEND_MARKS];
    char *slots; /* of CUDA_BACKEND_SLOT bytes */
    int n_slots; /* in use */
};

/* The device owns `object` from here on and calls release(object) when it is closed, the newest
 * object first; at once where there is no room for it. */
Status cuda_backend_keep(Backend *be, void *object, void (*release)(void *));
/* The object that was kept with this release function; NULL: none yet. */
void *cuda_backend_kept(const Backend *be, void (*release)(void *));

/* Device memory for one node's call of a library that needs `bytes` of workspace, shared with no
 * other; NULL where that is too much, or nothing, or all slots are taken. A captured graph clears
 * all slots at once. */
void *cuda_backend_slot(Backend *be, size_t bytes);

/* The second queue, as in BackendApi. */
Status cuda_beside_open(Backend *be, int n);
Status cuda_beside_begin(Backend *be, int piece);
Status cuda_beside_end(Backend *be, int piece);
Status cuda_beside_wait(Backend *be, int piece);
Status cuda_beside_seconds(Backend *be, int piece, double *seconds);
Status cuda_beside_sync(const Backend *be); /* waits for all that is in it */
void cuda_beside_close(Backend *be);

Status cuda_backend_status(cudaError_t error, const char *call);
#define CUDA_STATUS(call) cuda_backend_status((call), #call)
#define TRY_CUDA(call)    TRY(cuda_backend_status((call), #call)) /* #call: before expansion */

/* After a kernel launch: wrong launch parameters, and errors of earlier work. */
#define LAUNCH_STATUS() cuda_backend_status(cudaGetLastError(), "kernel launch")

#ifdef __cplusplus
}
#endif
