/* CUPTI's activity API. Its records name a kernel's call by a correlation id; which node made the call
 * comes from ids that the observer pushes. Kernels of a replayed graph have no call of their own: they are
 * tracer by their graph node, which is tied to the plan's node when it is captured, and again when
 * instantiating the graph clones it. */
#include "prof/activity_cupti.h"

#include "prof/cupti_api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 20 };
/* Never GRAPH_TRACE: it takes the place of the records of a graph's nodes. */
static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                           CUPTI_ACTIVITY_KIND_MEMCPY,
                                           CUPTI_ACTIVITY_KIND_MEMSET,
                                           CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                           CUPTI_ACTIVITY_KIND_RUNTIME,
                                           CUPTI_ACTIVITY_KIND_DRIVER,
                                           CUPTI_ACTIVITY_KIND_OVERHEAD};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static struct {
    CUpti_SubscriberHandle subscriber;
    pthread_mutex_t lock; /* of the buffers: CUPTI has a thread of its own */
    CuptiBuffer *first, *last;
    CuptiBuffer *spare; /* cleared */
    size_t dropped;
} tracer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int current; /* node + 1 that runs or is captured; 0: none */

Status activity_cupti_check(void)
{
    return cupti_api_load();
}

/* ---- graphs ---- */

static void CUPTIAPI on_callback(void *self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *data)
{
    (void)self;
    const CUpti_ResourceData *resource = data;
    uint64_t node = 0, original = 0;
    if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
    const CUpti_GraphData *graph = resource->resourceDescriptor;
    if (cupti_api.graph_node_id(graph->node, &node) != CUPTI_SUCCESS) return;
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
        cupti_records_node_captured(node, current);
    } else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED &&
               cupti_api.graph_node_id(graph->originalNode, &original) == CUPTI_SUCCESS) {
        cupti_records_node_cloned(node, original);
    }
}

/* ---- buffers ---- */

/* CUPTI asks in the middle of a launch, and would have to clear the buffer there: those that come back are
 * cleared between steps and wait for it. */
static void CUPTIAPI on_request(uint8_t **data, size_t *size, size_t *most)
{
    pthread_mutex_lock(&tracer.lock);
    CuptiBuffer *buffer = tracer.spare;
    if (buffer) tracer.spare = buffer->next;
    pthread_mutex_unlock(&tracer.lock);
    *data = buffer ? buffer->data : calloc(1, BUFFER_BYTES);
    *size = *data ? BUFFER_BYTES : 0;
    *most = 0;
    free(buffer);
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *data, size_t size,
                                 size_t valid)
{
    (void)size;
    size_t dropped = 0;
    CuptiBuffer *buffer = malloc(sizeof *buffer);
    if (cupti_api.dropped(context, stream, &dropped) != CUPTI_SUCCESS) dropped = 0;
    pthread_mutex_lock(&tracer.lock);
    tracer.dropped += dropped + (buffer ? 0 : 1);
    if (buffer) {
        *buffer = (CuptiBuffer){NULL, data, valid};
        *(tracer.last ? &tracer.last->next : &tracer.first) = buffer;
        tracer.last = buffer;
    }
    pthread_mutex_unlock(&tracer.lock);
    if (!buffer) free(data);
}

static CuptiBuffer *detach_buffers(size_t *dropped)
{
    pthread_mutex_lock(&tracer.lock);
    CuptiBuffer *first = tracer.first;
    *dropped = tracer.dropped;
    tracer.first = tracer.last = NULL;
    tracer.dropped = 0;
    pthread_mutex_unlock(&tracer.lock);
    return first;
}

static void free_buffers(CuptiBuffer *buffer)
{
    while (buffer) {
        CuptiBuffer *next = buffer->next;
        free(buffer->data);
        free(buffer);
        buffer = next;
    }
}

static void recycle_buffers(CuptiBuffer *buffer)
{
    while (buffer) {
        CuptiBuffer *next = buffer->next;
        memset(buffer->data, 0, BUFFER_BYTES);
        pthread_mutex_lock(&tracer.lock);
        buffer->next = tracer.spare;
        tracer.spare = buffer;
        pthread_mutex_unlock(&tracer.lock);
        buffer = next;
    }
}

Status activity_cupti_collect(TraceEvent **events, size_t *n, size_t *dropped)
{
    TRY(cupti_api_status(cupti_api.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flush"));
    CuptiBuffer *first = detach_buffers(dropped);
    const Status status = cupti_records_read(first, events, n);
    recycle_buffers(first);
    return status;
}

/* ---- start and stop ---- */

static Status subscribe(void)
{
#if CUPTI_API_VERSION >= 130000
    char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                     .subscriberName = "roofstep",
                                     .oldSubscriberName = other,
                                     .oldSubscriberSize = sizeof other};
    const CUptiResult result = cupti_api.subscribe(&tracer.subscriber, on_callback, NULL, &params);
#else
    const char other[] = "";
    const CUptiResult result = cupti_api.subscribe(&tracer.subscriber, on_callback, NULL);
#endif
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return FAIL(ST_UNSUPPORTED, "another profiler is attached (%s)",
                    *other ? other : "unnamed");
    return cupti_api_status(result, "subscribe");
}

/* Questions that a library asks at every launch: recording them takes longer than asking. */
static void disable_query_calls(void)
{
    static const CUpti_CallbackId runtime[] = {
        CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
        CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
        CUPTI_RUNTIME_TRACE_CBID_cudaFuncGetAttributes_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaFuncSetAttribute_v9000,
        CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000};
    static const CUpti_CallbackId driver[] = {CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
                                              CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,
                                              CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2,
                                              CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent_v2,
                                              CUPTI_DRIVER_TRACE_CBID_cuStreamIsCapturing,
                                              CUPTI_DRIVER_TRACE_CBID_cuStreamGetCaptureInfo_v2,
                                              CUPTI_DRIVER_TRACE_CBID_cuFuncGetAttribute,
                                              CUPTI_DRIVER_TRACE_CBID_cuFuncSetAttribute,
                                              CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction,
                                              CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute,
                                              CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2};
    for (size_t i = 0; cupti_api.enable_runtime && i < sizeof runtime / sizeof *runtime; i++)
        (void)cupti_api.enable_runtime(runtime[i], 0);
    for (size_t i = 0; cupti_api.enable_driver && i < sizeof driver / sizeof *driver; i++)
        (void)cupti_api.enable_driver(driver[i], 0);
}

static Status enable_all(void)
{
    uint8_t zeroed = 1;
    size_t size = sizeof zeroed;
    static const CUpti_CallbackId graph_events[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                                    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};
    for (size_t i = 0; i < sizeof graph_events / sizeof *graph_events; i++) {
        TRY(cupti_api_status(cupti_api.enable_callback(1, tracer.subscriber,
                                                       CUPTI_CB_DOMAIN_RESOURCE, graph_events[i]),
                             "callbacks of graphs"));
    }
    TRY(cupti_api_status(
        cupti_api.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed),
        "buffers"));
    TRY(cupti_api_status(cupti_api.callbacks(on_request, on_complete), "buffers"));
    for (int i = 0; i < N_KINDS; i++) TRY(cupti_api_status(cupti_api.enable(kinds[i]), "records"));
    disable_query_calls();
    return ST_OK;
}

Status activity_cupti_start(TraceLog *names)
{
    TRY(cupti_api_load());
    TRY(cupti_records_open(names));
    Status status = subscribe();
    if (status == ST_OK) {
        status = enable_all();
        if (status != ST_OK) activity_cupti_stop();
    } else {
        cupti_records_close();
    }
    /* no permission, say: the caller goes on without */
    return status == ST_DEVICE ? ST_UNSUPPORTED : status;
}

void activity_cupti_stop(void)
{
    size_t dropped = 0;
    for (int i = 0; i < N_KINDS; i++) cupti_api.disable(kinds[i]);
    cupti_api.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    cupti_api.unsubscribe(tracer.subscriber);
    free_buffers(detach_buffers(&dropped));
    free_buffers(tracer.spare);
    tracer.spare = NULL;
    cupti_records_close();
}

/* ---- nodes ---- */

static Status node_begin(void *self, const ObserverEvent *event)
{
    (void)self;
    current = event->node + 1;
    return cupti_api_status(cupti_api.push(CUPTI_RECORDS_KIND, (uint64_t)current), "push");
}

static Status node_end(void *self, const ObserverEvent *event)
{
    (void)self;
    (void)event;
    uint64_t last = 0;
    current = 0;
    return cupti_api_status(cupti_api.pop(CUPTI_RECORDS_KIND, &last), "pop");
}

Observer activity_cupti_observer(void)
{
    return (Observer){.begin = node_begin, .end = node_end};
}
