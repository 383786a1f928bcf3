/* cuDNN's backend API for graphs of operations, shortened: tensors, matmuls, pointwise
 * operations, reductions, and one execution plan. The first failure sticks; later calls do nothing. */
#pragma once

#include "backend/cuda_backend.h"

#include <cudnn.h>

#include <stdbool.h>
#include <stdint.h>

typedef cudnnBackendDescriptor_t Descriptor;

enum { CUDNN_GRAPH_OBJECTS = 192, CUDNN_GRAPH_OPERATIONS = 40 };

typedef struct CudnnGraph {
    Descriptor object[CUDNN_GRAPH_OBJECTS]; /* all that must be destroyed */
    int n_objects;
    Descriptor operation[CUDNN_GRAPH_OPERATIONS];
    int n_operations;
    int64_t next_uid; /* of virtual tensors */
    cudnnStatus_t error;
    const char *where;
    cudnnHandle_t handle; /* that the plan was made with */
    Descriptor plan;
    int64_t workspace; /* bytes the plan asks for */
} CudnnGraph;

/* The handle of this device, on its stream; created at the first call. */
Status cudnn_graph_handle(Backend *be, cudnnHandle_t *handle);

void cudnn_graph_init(CudnnGraph *g);
void cudnn_graph_free(CudnnGraph *g);

/* Four dimensions, and strides in elements. A virtual tensor lives inside the graph only; a scalar
 * is passed by value from host memory. */
Descriptor cudnn_graph_tensor(CudnnGraph *g, int64_t uid, cudnnDataType_t type,
                              const int64_t dim[4], const int64_t stride[4]);
Descriptor cudnn_graph_virtual(CudnnGraph *g, cudnnDataType_t type, const int64_t dim[4],
                               const int64_t stride[4]);
Descriptor cudnn_graph_scalar(CudnnGraph *g, int64_t uid);

void cudnn_graph_matmul(CudnnGraph *g, Descriptor a, Descriptor b, Descriptor c);
/* y = mode(x, b, t); b and t may be NULL. */
void cudnn_graph_pointwise(CudnnGraph *g, cudnnPointwiseMode_t mode, cudnnDataType_t precision,
                           Descriptor x, Descriptor b, Descriptor t, Descriptor y);
void cudnn_graph_index(CudnnGraph *g, int64_t axis, Descriptor x, Descriptor y);
void cudnn_graph_reduce(CudnnGraph *g, cudnnReduceTensorOp_t op, Descriptor x, Descriptor y);
void cudnn_graph_reshape(CudnnGraph *g, Descriptor x, Descriptor y);

/* Chooses an engine and compiles. ST_UNSUPPORTED with cuDNN's own message when there is none. */
Status cudnn_graph_plan(CudnnGraph *g, cudnnHandle_t handle);
Status cudnn_graph_run(const CudnnGraph *g, int n, const int64_t *uids, void *const *pointers,
                       void *workspace);
