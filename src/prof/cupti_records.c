#include "base/array.h"
#include "base/clock.h"
#include "prof/cupti_api.h"
#include "prof/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_SIZE = 1 << 18 };

typedef struct KernelName {
    const void *key; /* CUPTI's pointer, which it shares among the records of a kernel */
    const char *name, *brief;
} KernelName;

typedef struct Call {
    uint32_t correlation;
    int node;
} Call;

static struct {
    TraceLog *names;
    /* node + 1 by id of a graph's node; open addressing */
    struct {
        uint64_t id;
        int value;
    } * map;
    size_t n_mapped;
    KernelName *kernels;
    size_t n_kernels;
    Call *calls;
    size_t n_calls;
    TraceEvent *events;
    size_t n_events;
    int64_t offset; /* of clock_nanoseconds() against CUPTI's clock */
} reader;

/* ---- nodes of graphs ---- */

static size_t slot_of(uint64_t id)
{
    size_t at = (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 40) & (MAP_SIZE - 1);
    while (reader.map[at].id && reader.map[at].id != id) at = (at + 1) & (MAP_SIZE - 1);
    return at;
}

void cupti_records_node_captured(uint64_t id, int value)
{
    if (!value || reader.n_mapped > MAP_SIZE / 2) return; /* it will count as not attributed */
    const size_t at = slot_of(id);
    reader.n_mapped += reader.map[at].id == 0;
    reader.map[at].id = id;
    reader.map[at].value = value;
}

void cupti_records_node_cloned(uint64_t id, uint64_t original)
{
    cupti_records_node_captured(id, reader.map[slot_of(original)].value);
}

/* ---- names ---- */

/* Of libstdc++, where the program is linked with it: nvcc's host compiler does so. */
extern char *__cxa_demangle(const char *mangled, char *out, size_t *size, int *status)
    __attribute__((weak));

static const KernelName *kernel_name(const char *mangled)
{
    for (size_t i = 0; i < reader.n_kernels; i++) {
        if (reader.kernels[i].key == mangled) return &reader.kernels[i];
    }
    if (array_grow(&reader.kernels, reader.n_kernels, 1, sizeof *reader.kernels) != ST_OK)
        return NULL;
    char brief[128];
    char *plain = __cxa_demangle ? __cxa_demangle(mangled, NULL, NULL, NULL) : NULL;
    kernel_name_short(plain ? plain : mangled, brief, sizeof brief);
    KernelName *at = &reader.kernels[reader.n_kernels];
    *at = (KernelName){mangled, trace_log_name(reader.names, plain ? plain : mangled),
                       trace_log_name(reader.names, brief)};
    free(plain);
    if (!at->name || !at->brief) return NULL;
    reader.n_kernels++;
    return at;
}

/* "cudaLaunchKernel" of "cudaLaunchKernel_v7000". */
static const char *call_name(bool driver, CUpti_CallbackId id)
{
    const char *full = NULL;
    char name[96];
    const CUpti_CallbackDomain domain =
        driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
    if (cupti_api.callback_name(domain, (uint32_t)id, &full) != CUPTI_SUCCESS || !full)
        full = driver ? "driver call" : "runtime call";
    snprintf(name, sizeof name, "%s", full);
    char *version = driver ? NULL : strstr(name, "_v");
    if (version && version[2] >= '0' && version[2] <= '9') *version = '\0';
    return trace_log_name(reader.names, name);
}

/* By CUPTI's kind of copy; the first stands for all others. */
static const struct {
    unsigned kind;
    const char *name, *direction;
} copies[] = {
    {0, "[CUDA memcpy]", "DtoD"},
    {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, "[CUDA memcpy Host-to-Device]", "HtoD"},
    {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, "[CUDA memcpy Device-to-Host]", "DtoH"},
    {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, "[CUDA memcpy Device-to-Device]", "DtoD"},
};

static size_t copy_of(unsigned kind)
{
    size_t i = sizeof copies / sizeof *copies - 1;
    while (i > 0 && copies[i].kind != kind) i--;
    return i;
}

/* ---- records -> events ---- */

static Status add_call(const CUpti_ActivityExternalCorrelation *record)
{
    if (record->externalKind != CUPTI_RECORDS_KIND) return ST_OK;
    TRY(array_grow(&reader.calls, reader.n_calls, 1, sizeof *reader.calls));
    reader.calls[reader.n_calls++] = (Call){record->correlationId, (int)record->externalId - 1};
    return ST_OK;
}

static int by_correlation(const void *a, const void *b)
{
    const Call *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* The plan's node; -1: none. */
static int node_of(uint32_t correlation, uint64_t graph_node)
{
    if (graph_node) return reader.map[slot_of(graph_node)].value - 1;
    const Call key = {correlation, 0};
    const Call *call = reader.n_calls
                           ? bsearch(&key, reader.calls, reader.n_calls, sizeof key, by_correlation)
                           : NULL;
    return call ? call->node : -1;
}

static Status add_event(TraceEvent event, uint64_t begin, uint64_t end)
{
    TRY(array_grow(&reader.events, reader.n_events, 1, sizeof *reader.events));
    if (!event.name) return NO_MEMORY("for a name");
    event.begin = (int64_t)begin + reader.offset;
    event.end = (int64_t)end + reader.offset;
    reader.events[reader.n_events++] = event;
    return ST_OK;
}

/* What the records of kernels, copies and memsets have in common. */
#define DEVICE_EVENT(record, of_kind, of_name)                                              \
    {                                                                                       \
        .kind = (of_kind), .node = node_of((record)->correlationId, (record)->graphNodeId), \
        .name = (of_name), .correlation = (record)->correlationId,                          \
        .gpu = {.device = (int)(record)->deviceId,                                          \
                .context = (int)(record)->contextId,                                        \
                .stream = (int)(record)->streamId,                                          \
                .graph_node = (record)->graphNodeId},                                       \
    }

static Status add_kernel(const CuptiKernel *k)
{
    const KernelName *name = kernel_name(k->name);
    if (!name) return NO_MEMORY("for a name");
    TraceEvent event = DEVICE_EVENT(k, TRACE_KERNEL, name->name);
    const int32_t grid[3] = {k->gridX, k->gridY, k->gridZ};
    const int32_t block[3] = {k->blockX, k->blockY, k->blockZ};
    event.brief = name->brief;
    memcpy(event.gpu.grid, grid, sizeof grid);
    memcpy(event.gpu.block, block, sizeof block);
    event.gpu.registers = k->registersPerThread;
    event.gpu.static_shared = k->staticSharedMemory;
    event.gpu.dynamic_shared = k->dynamicSharedMemory;
    return add_event(event, k->start, k->end);
}

static Status add_memcpy(const CuptiCopy *c)
{
    const size_t copy = copy_of(c->copyKind);
    TraceEvent event =
        DEVICE_EVENT(c, TRACE_MEMCPY, trace_log_name(reader.names, copies[copy].name));
    event.gpu.bytes = (int64_t)c->bytes;
    event.gpu.copy = copies[copy].direction;
    return add_event(event, c->start, c->end);
}

static Status add_memset(const CuptiSet *s)
{
    TraceEvent event = DEVICE_EVENT(s, TRACE_MEMSET, trace_log_name(reader.names, "[CUDA memset]"));
    event.gpu.bytes = (int64_t)s->bytes;
    return add_event(event, s->start, s->end);
}

static Status add_api(const CUpti_ActivityAPI *api)
{
    const bool driver = api->kind == CUPTI_ACTIVITY_KIND_DRIVER;
    const TraceEvent event = {.kind = TRACE_API,
                              .node = node_of(api->correlationId, 0),
                              .driver = driver,
                              .name = call_name(driver, api->cbid),
                              .correlation = api->correlationId};
    return add_event(event, api->start, api->end);
}

static Status add_overhead(const CuptiOverhead *overhead)
{
    const TraceEvent event = {.kind = TRACE_OVERHEAD, .node = -1, .name = "overhead"};
    return add_event(event, overhead->start, overhead->end);
}

static Status add_record(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
        return add_kernel((const CuptiKernel *)record);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return add_memcpy((const CuptiCopy *)record);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return add_memset((const CuptiSet *)record);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return add_api((const CUpti_ActivityAPI *)record);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return add_overhead((const CuptiOverhead *)record);
    default:
        return ST_OK;
    }
}

/* Whether a record comes before or after the one that correlations it to a node depends on the
 * buffer it is in: so all correlations are read first. */
static Status read_buffers(const CuptiBuffer *first, bool correlations)
{
    for (const CuptiBuffer *buffer = first; buffer; buffer = buffer->next) {
        CUpti_Activity *record = NULL;
        while (cupti_api.next(buffer->data, buffer->valid, &record) == CUPTI_SUCCESS) {
            const bool correlation_record =
                record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
            if (correlations && correlation_record)
                TRY(add_call((const CUpti_ActivityExternalCorrelation *)record));
            else if (!correlations && !correlation_record)
                TRY(add_record(record));
        }
    }
    return ST_OK;
}

/* The driver's part of a call of the runtime has the same id; only one of the two stands for it. */
static int by_call(const void *a, const void *b)
{
    const TraceEvent *x = *(TraceEvent *const *)a, *y = *(TraceEvent *const *)b;
    if (x->correlation != y->correlation) return x->correlation < y->correlation ? -1 : 1;
    return (int)x->driver - (int)y->driver;
}

static Status drop_driver_twins(void)
{
    size_t n = 0;
    TraceEvent **calls = malloc((reader.n_events + 1) * sizeof *calls);
    if (!calls) return NO_MEMORY("for %zu calls", reader.n_events);
    for (size_t i = 0; i < reader.n_events; i++) {
        if (reader.events[i].kind == TRACE_API) calls[n++] = &reader.events[i];
    }
    qsort(calls, n, sizeof *calls, by_call);
    uint32_t last = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t correlation = calls[i]->correlation;
        if (correlation && correlation == last) calls[i]->correlation = 0;
        last = correlation;
    }
    free(calls);
    return ST_OK;
}

/* The closest of several looks at both clocks. */
static void read_offset(void)
{
    int64_t closest = INT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t cupti_ns = 0;
        const int64_t before = clock_nanoseconds();
        if (cupti_api.timestamp(&cupti_ns) != CUPTI_SUCCESS) return;
        const int64_t after = clock_nanoseconds();
        if (after - before >= closest) continue;
        closest = after - before;
        reader.offset = before + closest / 2 - (int64_t)cupti_ns;
    }
}

Status cupti_records_read(const CuptiBuffer *first, TraceEvent **events, size_t *n)
{
    reader.n_calls = reader.n_events = 0;
    read_offset();
    TRY(read_buffers(first, true));
    if (reader.n_calls) qsort(reader.calls, reader.n_calls, sizeof *reader.calls, by_correlation);
    TRY(read_buffers(first, false));
    TRY(drop_driver_twins());
    *events = reader.events;
    *n = reader.n_events;
    return ST_OK;
}

Status cupti_records_open(TraceLog *names)
{
    cupti_records_close();
    reader.names = names;
    reader.map = calloc(MAP_SIZE, sizeof *reader.map);
    return reader.map ? ST_OK : NO_MEMORY("to trace graphs");
}

void cupti_records_close(void)
{
    free(reader.map);
    free(reader.kernels);
    free(reader.calls);
    free(reader.events);
    memset(&reader, 0, sizeof reader);
}
