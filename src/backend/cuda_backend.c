#include "backend/cuda_backend.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- compute capability ---- */

static int capability_of(int device)
{
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return 10 * major + minor;
}

/* In a process of its own: a process that has opened CUDA hands nothing usable on to the cells it forks. */
static int capability_in_child(int device)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(capability_of(device));
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 0;
    return WEXITSTATUS(status);
}

enum { CACHED_DEVICES = 16 };
static int cached[CACHED_DEVICES]; /* compute capability + 1; 0: not known yet */

static int capability(int device)
{
    if (device < 0 || device >= CACHED_DEVICES) return capability_in_child(device);
    if (!cached[device]) cached[device] = capability_in_child(device) + 1;
    return cached[device] - 1;
}

static int count(void)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess) n = 0;
    (void)cudaGetLastError();
    for (int i = 0; i < n && i < CACHED_DEVICES; i++) cached[i] = capability_of(i) + 1;
    return n;
}

/* ---- opening and closing ---- */

static Status count_devices(int *count)
{
    const cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
        (void)cudaGetLastError();
        return FAIL(ST_DEVICE, "no NVIDIA GPU can be used (CUDA: %s): use --device cpu",
                    cudaGetErrorString(error));
    }
    return CUDA_STATUS(error);
}

static Status open_parts(Backend *be, int device)
{
    int count = 0;
    TRY(count_devices(&count));
    if (device >= count) {
        return FAIL(ST_DEVICE, "there is no cuda:%d: this machine has %d CUDA device%s", device,
                    count, count == 1 ? "" : "s");
    }
    be->device = device;
    TRY_CUDA(cudaSetDevice(device));
    TRY_CUDA(cudaDeviceGetAttribute(&be->sms, cudaDevAttrMultiProcessorCount, device));
    be->capability = capability_of(device);
    if (be->capability > 0 && device < CACHED_DEVICES) cached[device] = be->capability + 1;
    TRY_CUDA(cudaStreamCreateWithFlags(&be->first, cudaStreamNonBlocking));
    be->stream = be->first;
    for (int i = 0; i < BACKEND_MARKS; i++) TRY_CUDA(cudaEventCreate(&be->marks[i]));
    return CUDA_STATUS(cudaMalloc((void **)&be->slots, CUDA_BACKEND_SLOTS * CUDA_BACKEND_SLOT));
}

static void close_device(Backend *be)
{
    while (be->n_objects > 0) { /* the newest first: plans before the handle they were made with */
        const CudaObject last = be->objects[--be->n_objects];
        last.release(last.object);
    }
    if (be->slots) cudaFree(be->slots);
    for (int i = 0; i < BACKEND_MARKS; i++) {
        if (be->marks[i]) cudaEventDestroy(be->marks[i]);
    }
    cuda_beside_close(be);
    if (be->first) cudaStreamDestroy(be->first);
    free(be);
}

static Status open_device(Backend **out, int device)
{
    Backend *be = calloc(1, sizeof *be);
    if (!be) return NO_MEMORY("to open a backend");
    const Status st = open_parts(be, device);
    if (st != ST_OK) {
        close_device(be);
        return st;
    }
    *out = be;
    return ST_OK;
}

Status cuda_backend_keep(Backend *be, void *object, void (*release)(void *))
{
    if (be->n_objects == CUDA_BACKEND_OBJECTS) {
        release(object);
        return FAIL(ST_FAILED, "cuda: more than %d library objects", CUDA_BACKEND_OBJECTS);
    }
    be->objects[be->n_objects++] = (CudaObject){object, release};
    return ST_OK;
}

void *cuda_backend_kept(const Backend *be, void (*release)(void *))
{
    for (int i = 0; i < be->n_objects; i++) {
        if (be->objects[i].release == release) return be->objects[i].object;
    }
    return NULL;
}

void *cuda_backend_slot(Backend *be, size_t bytes)
{
    if (bytes == 0 || bytes > CUDA_BACKEND_SLOT || be->n_slots == CUDA_BACKEND_SLOTS) return NULL;
    return be->slots + (size_t)be->n_slots++ * CUDA_BACKEND_SLOT;
}

/* ---- memory ---- */

static Status available(Backend *be, size_t *bytes)
{
    (void)be;
    size_t total = 0;
    return CUDA_STATUS(cudaMemGetInfo(bytes, &total));
}

static Status alloc(Backend *be, size_t bytes, void **out)
{
    if (cudaMalloc(out, bytes) == cudaSuccess) return ST_OK;
    (void)cudaGetLastError();
    size_t left = 0;
    (void)available(be, &left);
    return FAIL(ST_NO_MEMORY, "cuda:%d: needs %.2f GiB more, %.2f GiB free", be->device,
                (double)bytes / 0x1p30, (double)left / 0x1p30);
}

static void release(Backend *be, void *memory, size_t bytes)
{
    (void)be;
    (void)bytes;
    cudaFree(memory);
}

static Status sync_device(Backend *be)
{
    TRY_CUDA(cudaStreamSynchronize(be->first));
    return cuda_beside_sync(be);
}

/* Copies are rare (before and after a run), so they wait. */
static Status copy(Backend *be, void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    TRY_CUDA(cudaMemcpyAsync(dst, src, bytes, kind, be->stream));
    return sync_device(be);
}

static Status upload(Backend *be, void *dst, const void *src, size_t bytes)
{
    return copy(be, dst, src, bytes, cudaMemcpyHostToDevice);
}

static Status download(Backend *be, void *dst, const void *src, size_t bytes)
{
    return copy(be, dst, src, bytes, cudaMemcpyDeviceToHost);
}

static Status clear(Backend *be, void *dst, size_t bytes)
{
    return CUDA_STATUS(cudaMemsetAsync(dst, 0, bytes, be->stream));
}

/* ---- timing ---- */

static Status mark(Backend *be, int slot)
{
    return CUDA_STATUS(cudaEventRecord(be->marks[slot], be->stream));
}

static Status elapsed(Backend *be, int from, int to, double *seconds)
{
    float ms = 0;
    TRY_CUDA(cudaEventSynchronize(be->marks[to]));
    TRY_CUDA(cudaEventElapsedTime(&ms, be->marks[from], be->marks[to]));
    *seconds = (double)ms * 1e-3;
    return ST_OK;
}

/* ---- graphs ---- */

/* cuBLASLt and cuDNN clear a counter of four bytes before many of their kernels. In a graph each of
 * these memsets is a node between two kernels and costs nearly two microseconds. Where the counters
 * lie in slots (cuda_backend_slot), which only their own call uses, the first memset clears them
 * all and the others are removed, as far as the nodes of the first queue are one chain. */
#if CUDART_VERSION < 12030 /* has no query for the edges of programmatic launches */
static Status merge_memsets(const Backend *be, cudaGraph_t graph)
{
    (void)be;
    (void)graph;
    return ST_OK;
}
#else

#if CUDART_VERSION < 13000
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphNodeGetDependencies   cudaGraphNodeGetDependencies_v2
#define cudaGraphAddDependencies       cudaGraphAddDependencies_v2
#endif

/* The next node of the first queue; NULL where there is none, or it is not clear which. A piece of the second
 * queue begins with an event (backend/cuda_beside.c). */
static Status successor(cudaGraphNode_t node, cudaGraphNode_t *next)
{
    enum { MOST = 4 };
    cudaGraphEdgeData edges[MOST];
    cudaGraphNode_t nodes[MOST];
    size_t n = 0;
    int found = 0;
    *next = NULL;
    TRY_CUDA(cudaGraphNodeGetDependentNodes(node, NULL, NULL, &n));
    if (n == 0 || n > MOST) return ST_OK;
    TRY_CUDA(cudaGraphNodeGetDependentNodes(node, nodes, edges, &n));
    for (size_t i = 0; i < n; i++) {
        enum cudaGraphNodeType type;
        TRY_CUDA(cudaGraphNodeGetType(nodes[i], &type));
        if (type == cudaGraphNodeTypeEventRecord) continue;
        *next = nodes[i];
        found++;
    }
    if (found != 1) *next = NULL;
    return ST_OK;
}

/* One node waits for it and it waits for one. */
static Status is_between_two(cudaGraphNode_t node, bool *yes)
{
    size_t before = 0, after = 0;
    TRY_CUDA(cudaGraphNodeGetDependencies(node, NULL, NULL, &before));
    TRY_CUDA(cudaGraphNodeGetDependentNodes(node, NULL, NULL, &after));
    *yes = before == 1 && after == 1;
    return ST_OK;
}

static Status chain_start(cudaGraph_t graph, cudaGraphNode_t *first)
{
    size_t n = 0, one = 1;
    *first = NULL;
    TRY_CUDA(cudaGraphGetRootNodes(graph, NULL, &n));
    if (n == 1) TRY_CUDA(cudaGraphGetRootNodes(graph, first, &one));
    return ST_OK;
}

static Status is_slot_memset(const Backend *be, cudaGraphNode_t node, bool *yes)
{
    enum cudaGraphNodeType type;
    struct cudaMemsetParams clear;
    *yes = false;
    TRY_CUDA(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeMemset) return ST_OK;
    TRY_CUDA(cudaGraphMemsetNodeGetParams(node, &clear));
    const uintptr_t at = (uintptr_t)clear.dst, from = (uintptr_t)be->slots;
    *yes = clear.value == 0 && clear.height == 1 && at >= from &&
           at < from + (size_t)be->n_slots * CUDA_BACKEND_SLOT;
    return ST_OK;
}

static Status clear_all_slots(const Backend *be, cudaGraphNode_t node)
{
    const struct cudaMemsetParams all = {.dst = be->slots,
                                         .elementSize = 1,
                                         .width = (size_t)be->n_slots * CUDA_BACKEND_SLOT,
                                         .height = 1};
    return CUDA_STATUS(cudaGraphMemsetNodeSetParams(node, &all));
}

static Status remove_between(cudaGraph_t graph, cudaGraphNode_t before, cudaGraphNode_t node,
                             cudaGraphNode_t next)
{
    TRY_CUDA(cudaGraphAddDependencies(graph, &before, &next, NULL, 1));
    return CUDA_STATUS(cudaGraphDestroyNode(node));
}

static Status merge_memsets(const Backend *be, cudaGraph_t graph)
{
    cudaGraphNode_t node = NULL, before = NULL, next = NULL;
    bool merged = false;
    TRY(chain_start(graph, &node));
    for (; node; node = next) {
        bool memset_node = false, between = false;
        TRY(successor(node, &next));
        TRY(is_slot_memset(be, node, &memset_node));
        if (memset_node && merged) TRY(is_between_two(node, &between));
        if (between && next) {
            TRY(remove_between(graph, before, node, next));
            continue;
        }
        if (memset_node && !merged) TRY(clear_all_slots(be, node));
        merged |= memset_node;
        before = node;
    }
    return ST_OK;
}
#endif

static Status capture_begin(Backend *be)
{
    TRY_CUDA(cudaStreamBeginCapture(be->first, cudaStreamCaptureModeThreadLocal));
    be->capturing = true;
    return ST_OK;
}

static Status capture_end(Backend *be, void **graph)
{
    cudaGraph_t captured = NULL;
    cudaGraphExec_t ready = NULL;
    be->capturing = false;
    be->stream = be->first; /* where the capture ended in the middle of a piece, too */
    TRY_CUDA(cudaStreamEndCapture(be->first, &captured));
    Status status = merge_memsets(be, captured);
    if (status == ST_OK) status = CUDA_STATUS(cudaGraphInstantiate(&ready, captured, 0));
    cudaGraphDestroy(captured);
    TRY(status);
    TRY_CUDA(cudaGraphUpload(ready, be->stream));
    *graph = ready;
    return ST_OK;
}

static Status launch(Backend *be, void *graph)
{
    return CUDA_STATUS(cudaGraphLaunch(graph, be->stream));
}

static void drop(Backend *be, void *graph)
{
    (void)be;
    cudaGraphExecDestroy(graph);
}

extern const BackendApi cuda_backend;
const BackendApi cuda_backend = {
    .name = "cuda",
    .capability = capability,
    .count = count,
    .open = open_device,
    .close = close_device,
    .alloc = alloc,
    .release = release,
    .upload = upload,
    .download = download,
    .clear = clear,
    .sync = sync_device,
    .available = available,
    .mark = mark,
    .elapsed = elapsed,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .launch = launch,
    .drop = drop,
    .beside_open = cuda_beside_open,
    .beside_begin = cuda_beside_begin,
    .beside_end = cuda_beside_end,
    .beside_wait = cuda_beside_wait,
    .beside_seconds = cuda_beside_seconds,
};
