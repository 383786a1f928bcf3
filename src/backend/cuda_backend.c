#include "backend/cuda_backend.h"

#include "backend/cuda_graph.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

Status cuda_backend_status(cudaError_t error, const char *call, const char *file, int line)
{
    if (error == cudaSuccess) return ST_OK;
    (void)cudaGetLastError(); /* clears an error that is not sticky */
    if (error == cudaErrorNoKernelImageForDevice) {
        return status_fail(ST_UNSUPPORTED, file, line,
                           "this program was not compiled for this GPU: compile it on this machine "
                           "(with CUDA 12 if the GPU is older than compute capability 7.5)");
    }
    const Status code = error == cudaErrorMemoryAllocation ? ST_NO_MEMORY : ST_DEVICE;
    return status_fail(code, file, line, "CUDA: %s (%s)", cudaGetErrorString(error), call);
}

Status cuda_backend_blas_status(cublasStatus_t error, const char *call, const char *file, int line)
{
    if (error == CUBLAS_STATUS_SUCCESS) return ST_OK;
    const bool lacks = error == CUBLAS_STATUS_NOT_SUPPORTED || error == CUBLAS_STATUS_ARCH_MISMATCH;
    return status_fail(lacks ? ST_UNSUPPORTED : ST_DEVICE, file, line, "cuBLASLt: %s (%s)",
                       cublasLtGetStatusString(error), call);
}

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

static int ask_apart(int device)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(capability_of(device));
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 0;
    return WEXITSTATUS(status);
}

enum { KNOWN = 16 };

static struct {
    bool asked;
    int capability;
} known[KNOWN];

static void remember(int device, int capability)
{
    if (device < 0 || device >= KNOWN) return;
    known[device].asked = true;
    known[device].capability = capability;
}

/* Asked by a process of its own, and once: a process that has opened CUDA hands nothing usable on to
 * those it forks, and cells are forked. */
static int capability(int device)
{
    if (device < 0 || device >= KNOWN) return ask_apart(device);
    if (!known[device].asked) remember(device, ask_apart(device));
    return known[device].capability;
}

static Status count_devices(int *count)
{
    const cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
        (void)cudaGetLastError();
        return FAIL(ST_DEVICE, "no NVIDIA GPU can be used (CUDA: %s): use --device cpu",
                    cudaGetErrorString(error));
    }
    TRY_CUDA(error);
    return ST_OK;
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
    TRY_CUDA(cudaDeviceGetAttribute(&be->processors, cudaDevAttrMultiProcessorCount, device));
    be->capability = capability_of(device);
    if (be->capability > 0) remember(device, be->capability);
    TRY_CUDA(cudaStreamCreateWithFlags(&be->stream, cudaStreamNonBlocking));
    for (int i = 0; i < BACKEND_MARKS; i++) TRY_CUDA(cudaEventCreate(&be->marks[i]));
    TRY_CUDA(cudaMalloc((void **)&be->slots, CUDA_BACKEND_SLOTS * CUDA_BACKEND_SLOT));
    TRY_CUBLAS(cublasLtCreate(&be->lt));
    return ST_OK;
}

static void close_device(Backend *be)
{
    while (be->n_owned > 0) { /* the newest first: plans before the handle they were made with */
        const CudaOwned last = be->owned[--be->n_owned];
        last.release(last.object);
    }
    if (be->lt) cublasLtDestroy(be->lt);
    if (be->slots) cudaFree(be->slots);
    for (int i = 0; i < BACKEND_MARKS; i++) {
        if (be->marks[i]) cudaEventDestroy(be->marks[i]);
    }
    if (be->stream) cudaStreamDestroy(be->stream);
    free(be);
}

static Status open_device(Backend **out, int device, int threads)
{
    (void)threads;
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

Status cuda_backend_own(Backend *be, void *object, void (*release)(void *))
{
    if (be->n_owned == CUDA_BACKEND_OWNED) return FAIL(ST_FAILED, "cuda: too many library objects");
    be->owned[be->n_owned++] = (CudaOwned){object, release};
    return ST_OK;
}

void *cuda_backend_slot(Backend *be, size_t bytes)
{
    if (bytes == 0 || bytes > CUDA_BACKEND_SLOT || be->n_slots == CUDA_BACKEND_SLOTS) return NULL;
    return be->slots + (size_t)be->n_slots++ * CUDA_BACKEND_SLOT;
}

static Status available(Backend *be, size_t *bytes)
{
    (void)be;
    size_t total = 0;
    TRY_CUDA(cudaMemGetInfo(bytes, &total));
    return ST_OK;
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

/* Copies are rare (before and after a run), so they wait. */
static Status upload(Backend *be, void *dst, const void *src, size_t bytes)
{
    TRY_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, be->stream));
    TRY_CUDA(cudaStreamSynchronize(be->stream));
    return ST_OK;
}

static Status download(Backend *be, void *dst, const void *src, size_t bytes)
{
    TRY_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, be->stream));
    TRY_CUDA(cudaStreamSynchronize(be->stream));
    return ST_OK;
}

static Status clear(Backend *be, void *dst, size_t bytes)
{
    TRY_CUDA(cudaMemsetAsync(dst, 0, bytes, be->stream));
    return ST_OK;
}

static Status sync_device(Backend *be)
{
    TRY_CUDA(cudaStreamSynchronize(be->stream));
    return ST_OK;
}

static Status mark(Backend *be, int slot)
{
    TRY_CUDA(cudaEventRecord(be->marks[slot], be->stream));
    return ST_OK;
}

static Status elapsed(Backend *be, int from, int to, double *seconds)
{
    float ms = 0;
    TRY_CUDA(cudaEventSynchronize(be->marks[to]));
    TRY_CUDA(cudaEventElapsedTime(&ms, be->marks[from], be->marks[to]));
    *seconds = (double)ms * 1e-3;
    return ST_OK;
}

static Status capture_begin(Backend *be)
{
    TRY_CUDA(cudaStreamBeginCapture(be->stream, cudaStreamCaptureModeThreadLocal));
    return ST_OK;
}

static Status capture_end(Backend *be, void **graph)
{
    cudaGraph_t captured = NULL;
    cudaGraphExec_t ready = NULL;
    TRY_CUDA(cudaStreamEndCapture(be->stream, &captured));
    Status status = cuda_graph_join_clears(be, captured);
    if (status == ST_OK) {
        status = cuda_backend_status(cudaGraphInstantiate(&ready, captured, 0),
                                     "cudaGraphInstantiate", __FILE__, __LINE__);
    }
    cudaGraphDestroy(captured);
    if (status != ST_OK) return status;
    TRY_CUDA(cudaGraphUpload(ready, be->stream));
    *graph = ready;
    return ST_OK;
}

static Status launch(Backend *be, void *graph)
{
    TRY_CUDA(cudaGraphLaunch(graph, be->stream));
    return ST_OK;
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
};
