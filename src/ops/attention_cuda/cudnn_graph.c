#include "ops/attention_cuda/cudnn_graph.h"

#include <stdlib.h>

static void release_handle(void *handle)
{
    cudnnDestroy(handle);
}

static Status failure(cudnnStatus_t error, const char *where)
{
    char detail[256] = "";
    cudnnGetLastErrorString(detail, sizeof detail);
    return FAIL(ST_UNSUPPORTED, "cuDNN: %s at %s %s", cudnnGetErrorString(error), where, detail);
}

Status cudnn_graph_handle(Backend *be, cudnnHandle_t *handle)
{
    *handle = cuda_backend_kept(be, release_handle);
    if (*handle) return ST_OK;
    const cudnnStatus_t error = cudnnCreate(handle);
    if (error != CUDNN_STATUS_SUCCESS) return failure(error, "cudnnCreate");
    TRY(cuda_backend_keep(be, *handle, release_handle));
    if (cudnnSetStream(*handle, be->stream) != CUDNN_STATUS_SUCCESS) {
        return FAIL(ST_DEVICE, "cuDNN does not take the stream");
    }
    return ST_OK;
}

void cudnn_graph_init(CudnnGraph *g)
{
    *g = (CudnnGraph){.next_uid = 1000};
}

void cudnn_graph_free(CudnnGraph *g)
{
    for (int i = g->n_objects; i-- > 0;) cudnnBackendDestroyDescriptor(g->object[i]);
    *g = (CudnnGraph){0};
}

static void note(CudnnGraph *g, cudnnStatus_t error, const char *where)
{
    if (g->error != CUDNN_STATUS_SUCCESS || error == CUDNN_STATUS_SUCCESS) return;
    g->error = error;
    g->where = where;
}

static Descriptor make(CudnnGraph *g, cudnnBackendDescriptorType_t type)
{
    Descriptor d = NULL;
    if (g->error != CUDNN_STATUS_SUCCESS) return NULL;
    if (g->n_objects == CUDNN_GRAPH_OBJECTS) {
        note(g, CUDNN_STATUS_INTERNAL_ERROR, "a full table of descriptors");
        return NULL;
    }
    note(g, cudnnBackendCreateDescriptor(type, &d), "creating a descriptor");
    if (d) g->object[g->n_objects++] = d;
    return d;
}

static void set(CudnnGraph *g, Descriptor d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t n, const void *value)
{
    if (g->error != CUDNN_STATUS_SUCCESS) return;
    note(g, cudnnBackendSetAttribute(d, name, type, n, value), "setting an attribute");
}

static void set_tensor(CudnnGraph *g, Descriptor d, cudnnBackendAttributeName_t name, Descriptor t)
{
    set(g, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void *)&t);
}

static void finish(CudnnGraph *g, Descriptor d, const char *where)
{
    if (g->error == CUDNN_STATUS_SUCCESS) note(g, cudnnBackendFinalize(d), where);
}

static void add(CudnnGraph *g, Descriptor operation, const char *where)
{
    finish(g, operation, where);
    if (g->error != CUDNN_STATUS_SUCCESS) return;
    if (g->n_operations == CUDNN_GRAPH_OPERATIONS) {
        note(g, CUDNN_STATUS_INTERNAL_ERROR, "a full table of descriptors");
        return;
    }
    g->operation[g->n_operations++] = operation;
}

enum { NO_FLAG = -1 };

/* `flag`: a boolean attribute that is set, or NO_FLAG. */
static Descriptor tensor(CudnnGraph *g, int64_t uid, cudnnDataType_t type, const int64_t dim[4],
                         const int64_t stride[4], int flag)
{
    const Descriptor t = make(g, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const int64_t align = 16;
    const bool yes = true;
    set(g, t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(g, t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dim);
    set(g, t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride);
    set(g, t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    set(g, t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
    if (flag != NO_FLAG) set(g, t, (cudnnBackendAttributeName_t)flag, CUDNN_TYPE_BOOLEAN, 1, &yes);
    finish(g, t, "a tensor");
    return t;
}

Descriptor cudnn_graph_tensor(CudnnGraph *g, int64_t uid, cudnnDataType_t type,
                              const int64_t dim[4], const int64_t stride[4])
{
    return tensor(g, uid, type, dim, stride, NO_FLAG);
}

Descriptor cudnn_graph_virtual(CudnnGraph *g, cudnnDataType_t type, const int64_t dim[4],
                               const int64_t stride[4])
{
    return tensor(g, g->next_uid++, type, dim, stride, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
}

Descriptor cudnn_graph_scalar(CudnnGraph *g, int64_t uid)
{
    const int64_t one[4] = {1, 1, 1, 1};
    return tensor(g, uid, CUDNN_DATA_FLOAT, one, one, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
}

void cudnn_graph_matmul(CudnnGraph *g, Descriptor a, Descriptor b, Descriptor c)
{
    const cudnnDataType_t sum = CUDNN_DATA_FLOAT;
    const Descriptor how = make(g, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    set(g, how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sum);
    finish(g, how, "a matmul");
    const Descriptor operation = make(g, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
    add(g, operation, "a matmul");
}

static void pointwise(CudnnGraph *g, cudnnPointwiseMode_t mode, cudnnDataType_t precision,
                      const int64_t *axis, const Descriptor operand[4])
{
    const Descriptor how = make(g, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set(g, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set(g, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &precision);
    if (axis) set(g, how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, axis);
    finish(g, how, "a pointwise operation");
    const Descriptor operation = make(g, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, operand[0]);
    if (operand[1]) set_tensor(g, operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, operand[1]);
    if (operand[2]) set_tensor(g, operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, operand[2]);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, operand[3]);
    add(g, operation, "a pointwise operation");
}

void cudnn_graph_pointwise(CudnnGraph *g, cudnnPointwiseMode_t mode, cudnnDataType_t precision,
                           Descriptor x, Descriptor b, Descriptor t, Descriptor y)
{
    pointwise(g, mode, precision, NULL, (const Descriptor[]){x, b, t, y});
}

void cudnn_graph_index(CudnnGraph *g, int64_t axis, Descriptor x, Descriptor y)
{
    pointwise(g, CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, &axis,
              (const Descriptor[]){x, NULL, NULL, y});
}

void cudnn_graph_reduce(CudnnGraph *g, cudnnReduceTensorOp_t op, Descriptor x, Descriptor y)
{
    const cudnnDataType_t sum = CUDNN_DATA_FLOAT;
    const Descriptor how = make(g, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    set(g, how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sum);
    set(g, how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &op);
    finish(g, how, "a reduction");
    const Descriptor operation = make(g, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    add(g, operation, "a reduction");
}

void cudnn_graph_reshape(CudnnGraph *g, Descriptor x, Descriptor y)
{
    const Descriptor operation = make(g, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
    set_tensor(g, operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    add(g, operation, "a reshape");
}

/* The first engine the heuristic offers that compiles for this graph. */
static bool first_plan(CudnnGraph *g, cudnnHandle_t handle, Descriptor heuristic)
{
    enum { OFFERS = 8 };
    Descriptor config[OFFERS];
    int64_t n = 0, got = 0;
    for (int i = 0; i < OFFERS; i++) config[i] = make(g, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (g->error != CUDNN_STATUS_SUCCESS) return false;
    cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, OFFERS, &n, (void *)config);
    for (int i = 0; i < n && i < OFFERS; i++) {
        const Descriptor plan = make(g, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        if (!plan) return false;
        cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void *)&config[i]);
        cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
                                 (const void *)&handle);
        if (cudnnBackendFinalize(plan) != CUDNN_STATUS_SUCCESS) continue;
        cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                                 1, &got, &g->workspace);
        g->plan = plan;
        return true;
    }
    return false;
}

Status cudnn_graph_plan(CudnnGraph *g, cudnnHandle_t handle)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    const Descriptor graph = make(g, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(g, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, g->n_operations,
        (const void *)g->operation);
    set(g, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, (const void *)&handle);
    finish(g, graph, "the graph of operations");
    g->handle = handle;
    for (size_t i = 0; i < sizeof modes / sizeof *modes && g->error == CUDNN_STATUS_SUCCESS; i++) {
        const Descriptor heuristic = make(g, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        set_tensor(g, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
        set(g, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &modes[i]);
        if (g->error != CUDNN_STATUS_SUCCESS) break;
        if (cudnnBackendFinalize(heuristic) != CUDNN_STATUS_SUCCESS) continue;
        if (first_plan(g, handle, heuristic)) return ST_OK;
    }
    return failure(g->error, g->where ? g->where : "choosing an engine: none takes this shape");
}

Status cudnn_graph_run(const CudnnGraph *g, int n, const int64_t *uids, void *const *pointers,
                       void *workspace)
{
    Descriptor pack = NULL;
    cudnnStatus_t error =
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    if (error != CUDNN_STATUS_SUCCESS) return failure(error, "a variant pack");
    cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, n, uids);
    cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n,
                             (const void *)pointers);
    cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                             (const void *)&workspace);
    error = cudnnBackendFinalize(pack);
    if (error == CUDNN_STATUS_SUCCESS) error = cudnnBackendExecute(g->handle, g->plan, pack);
    cudnnBackendDestroyDescriptor(pack);
    return error == CUDNN_STATUS_SUCCESS ? ST_OK : failure(error, "running a graph");
}
