#include "prof/cupti_records.h"

#include "base/array.h"
#include "base/clock.h"
#include "prof/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_SIZE = 1 << 18 };

typedef struct NameOf {
    const void *key; /* CUPTI's pointer, which it shares among the records of a kernel */
    const char *name, *brief;
} NameOf;

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
    NameOf *kernels;
    size_t n_kernels;
    Call *calls;
    size_t n_calls;
    TraceEvent *events;
    size_t n_events;
    int64_t offset; /* of clock_nanoseconds() against CUPTI's clock */
} known;

/* ---- nodes of graphs ---- */

static size_t slot_of(uint64_t id)
{
    size_t at = (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 40) & (MAP_SIZE - 1);
    while (known.map[at].id && known.map[at].id != id) at = (at + 1) & (MAP_SIZE - 1);
    return at;
}

void cupti_records_graph_node(uint64_t id, int value)
{
    if (!value || known.n_mapped > MAP_SIZE / 2) return; /* it will count as not attributed */
    const size_t at = slot_of(id);
    known.n_mapped += known.map[at].id == 0;
    known.map[at].id = id;
    known.map[at].value = value;
}

void cupti_records_cloned(uint64_t id, uint64_t original)
{
    cupti_records_graph_node(id, known.map[slot_of(original)].value);
}

/* ---- names ---- */

/* Of libstdc++, where the program is linked with it: nvcc's host compiler does so. */
extern char *__cxa_demangle(const char *mangled, char *out, size_t *size, int *status)
    __attribute__((weak));

static const NameOf *kernel_name(const char *mangled)
{
    for (size_t i = 0; i < known.n_kernels; i++) {
        if (known.kernels[i].key == mangled) return &known.kernels[i];
    }
    if (array_grow(&known.kernels, known.n_kernels, 1, sizeof *known.kernels) != ST_OK) return NULL;
    char brief[128];
    char *plain = __cxa_demangle ? __cxa_demangle(mangled, NULL, NULL, NULL) : NULL;
    kernel_name_short(plain ? plain : mangled, brief, sizeof brief);
    NameOf *at = &known.kernels[known.n_kernels];
    *at = (NameOf){mangled, trace_log_name(known.names, plain ? plain : mangled),
                   trace_log_name(known.names, brief)};
    free(plain);
    if (!at->name || !at->brief) return NULL;
    known.n_kernels++;
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
    return trace_log_name(known.names, name);
}

static const char *copy_name(unsigned kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
        return "[CUDA memcpy Host-to-Device]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
        return "[CUDA memcpy Device-to-Host]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
        return "[CUDA memcpy Device-to-Device]";
    default:
        return "[CUDA memcpy]";
    }
}

static const char *copy_way(unsigned kind)
{
    return kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? "HtoD"
           : kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? "DtoH"
                                                     : "DtoD";
}

/* ---- records -> events ---- */

static Status add_call(const CUpti_ActivityExternalCorrelation *record)
{
    if (record->externalKind != CUPTI_RECORDS_OURS) return ST_OK;
    TRY(array_grow(&known.calls, known.n_calls, 1, sizeof *known.calls));
    known.calls[known.n_calls++] = (Call){record->correlationId, (int)record->externalId - 1};
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
    if (graph_node) return known.map[slot_of(graph_node)].value - 1;
    const Call key = {correlation, 0};
    const Call *call = known.n_calls
                           ? bsearch(&key, known.calls, known.n_calls, sizeof key, by_correlation)
                           : NULL;
    return call ? call->node : -1;
}

static Status add_event(TraceEvent event, uint64_t begin, uint64_t end)
{
    TRY(array_grow(&known.events, known.n_events, 1, sizeof *known.events));
    if (!event.name) return NO_MEMORY("for a name");
    event.begin = (int64_t)begin + known.offset;
    event.end = (int64_t)end + known.offset;
    known.events[known.n_events++] = event;
    return ST_OK;
}

static Status add_kernel(const CuptiKernel *k)
{
    const NameOf *name = kernel_name(k->name);
    if (!name) return NO_MEMORY("for a name");
    const TraceEvent event = {.kind = TRACE_KERNEL,
                              .node = node_of(k->correlationId, k->graphNodeId),
                              .name = name->name,
                              .brief = name->brief,
                              .correlation = k->correlationId,
                              .gpu = {.device = (int)k->deviceId,
                                      .context = (int)k->contextId,
                                      .stream = (int)k->streamId,
                                      .graph_node = k->graphNodeId,
                                      .grid = {k->gridX, k->gridY, k->gridZ},
                                      .block = {k->blockX, k->blockY, k->blockZ},
                                      .registers = k->registersPerThread,
                                      .static_shared = k->staticSharedMemory,
                                      .dynamic_shared = k->dynamicSharedMemory}};
    return add_event(event, k->start, k->end);
}

static Status add_copy(const CuptiCopy *c)
{
    const TraceEvent event = {.kind = TRACE_COPY,
                              .node = node_of(c->correlationId, c->graphNodeId),
                              .name = trace_log_name(known.names, copy_name(c->copyKind)),
                              .correlation = c->correlationId,
                              .gpu = {.device = (int)c->deviceId,
                                      .context = (int)c->contextId,
                                      .stream = (int)c->streamId,
                                      .graph_node = c->graphNodeId,
                                      .bytes = (int64_t)c->bytes,
                                      .copy = copy_way(c->copyKind)}};
    return add_event(event, c->start, c->end);
}

static Status add_set(const CuptiSet *s)
{
    const TraceEvent event = {.kind = TRACE_SET,
                              .node = node_of(s->correlationId, s->graphNodeId),
                              .name = trace_log_name(known.names, "[CUDA memset]"),
                              .correlation = s->correlationId,
                              .gpu = {.device = (int)s->deviceId,
                                      .context = (int)s->contextId,
                                      .stream = (int)s->streamId,
                                      .graph_node = s->graphNodeId,
                                      .bytes = (int64_t)s->bytes}};
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
        return add_copy((const CuptiCopy *)record);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return add_set((const CuptiSet *)record);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return add_api((const CUpti_ActivityAPI *)record);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return add_overhead((const CuptiOverhead *)record);
    default:
        return ST_OK;
    }
}

/* Whether a record comes before or after the one that ties it to a node depends on the buffer it is in:
 * so all ties are read first. */
static Status read_buffers(const CuptiBuffer *first, bool ties)
{
    for (const CuptiBuffer *buffer = first; buffer; buffer = buffer->next) {
        CUpti_Activity *record = NULL;
        while (cupti_api.next(buffer->data, buffer->valid, &record) == CUPTI_SUCCESS) {
            const bool tie = record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
            if (ties && tie)
                TRY(add_call((const CUpti_ActivityExternalCorrelation *)record));
            else if (!ties && !tie)
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

static Status settle_calls(void)
{
    size_t n = 0;
    TraceEvent **calls = malloc((known.n_events + 1) * sizeof *calls);
    if (!calls) return NO_MEMORY("for %zu calls", known.n_events);
    for (size_t i = 0; i < known.n_events; i++) {
        if (known.events[i].kind == TRACE_API) calls[n++] = &known.events[i];
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
        uint64_t theirs = 0;
        const int64_t before = clock_nanoseconds();
        if (cupti_api.timestamp(&theirs) != CUPTI_SUCCESS) return;
        const int64_t after = clock_nanoseconds();
        if (after - before >= closest) continue;
        closest = after - before;
        known.offset = before + closest / 2 - (int64_t)theirs;
    }
}

Status cupti_records_read(const CuptiBuffer *first, TraceEvent **events, size_t *n)
{
    known.n_calls = known.n_events = 0;
    read_offset();
    TRY(read_buffers(first, true));
    if (known.n_calls) qsort(known.calls, known.n_calls, sizeof *known.calls, by_correlation);
    TRY(read_buffers(first, false));
    TRY(settle_calls());
    *events = known.events;
    *n = known.n_events;
    return ST_OK;
}

Status cupti_records_open(TraceLog *names)
{
    cupti_records_close();
    known.names = names;
    known.map = calloc(MAP_SIZE, sizeof *known.map);
    return known.map ? ST_OK : NO_MEMORY("to trace graphs");
}

void cupti_records_close(void)
{
    free(known.map);
    free(known.kernels);
    free(known.calls);
    free(known.events);
    memset(&known, 0, sizeof known);
}
