/* CUPTI activity records of a GPU: kernels, copies, memsets and calls, each with the node that was
 * running (by correlation id) or captured (by graph node id). There is one tracer in a process. In a
 * build without CUPTI every function says so. */
#pragma once

#include "exec/observer.h"
#include "prof/trace_log.h"

/* ST_UNSUPPORTED says why it is not available. */
Status activity_cupti_check(void);
/* Starts tracing. ST_UNSUPPORTED when it cannot; when another profiler is attached the message
 * names it. */
Status activity_cupti_start(TraceLog *names);
void activity_cupti_stop(void);

/* Tells which node runs, or is captured. */
Observer activity_cupti_observer(void);

/* The events since the last call; the device must be idle. The events are the caller's to
 * read until the next call. `dropped` counts records CUPTI had no room for. */
Status activity_cupti_collect(TraceEvent **events, size_t *n, size_t *dropped);
