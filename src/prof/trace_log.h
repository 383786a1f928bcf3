/* A bounded list of trace events in one form, whatever recorded them. Trace files (report/) are written
 * from it alone. */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TraceKind {
    TRACE_STEP,       /* one step of the measured loop */
    TRACE_PHASE,      /* its forward, backward or optimizer */
    TRACE_RANGE,      /* a layer, a part of it */
    TRACE_NODE,       /* on a CPU the work itself, on a GPU its launches */
    TRACE_WAIT,       /* for the communication queue */
    TRACE_COLLECTIVE, /* of the communication queue */
    TRACE_API,        /* a call of the CUDA runtime or driver */
    TRACE_PROJECTED,  /* a phase as the GPU saw it: around all it ran of it */
    TRACE_KERNEL,
    TRACE_MEMCPY,
    TRACE_MEMSET,  /* a memset */
    TRACE_OVERHEAD /* of the tracing itself */
} TraceKind;

/* Of what ran on a GPU. */
typedef struct TraceGpu {
    int device, context, stream;
    uint64_t graph_node; /* 0: launched by itself */
    int grid[3], block[3], registers;
    int64_t static_shared, dynamic_shared; /* bytes */
    int64_t bytes;                         /* of a copy or memset */
    const char *copy;                      /* "HtoD", "DtoH", "DtoD", ...; NULL: no copy */
} TraceGpu;

typedef struct TraceEvent {
    TraceKind kind;
    int step, node;       /* node: -1 when it belongs to none */
    bool driver;          /* a call of the driver, not of the runtime */
    int64_t begin, end;   /* clock_nanoseconds() */
    const char *name;     /* the plan's, or trace_log_name()'s */
    const char *brief;    /* of a kernel: kernel_name_short(), from trace_log_name() too */
    uint32_t correlation; /* of a call and what it launched; 0: none */
    int depth;            /* of a range: how many enclose it in its phase */
    TraceGpu gpu;
} TraceEvent;

enum { TRACE_LOG_MOST = 1 << 19 }; /* events: some 70 MB */

/* A zeroed one is empty. */
typedef struct TraceLog {
    TraceEvent *events;
    size_t n;
    size_t left_out; /* beyond TRACE_LOG_MOST */
    char **names;    /* each once */
    size_t n_names;
} TraceLog;

Status trace_log_add(TraceLog *log, const TraceEvent *event);
/* A copy of the name that lives as long as the log; NULL when memory runs out. */
const char *trace_log_name(TraceLog *log, const char *name);
void trace_log_free(TraceLog *log);
