/* What CUPTI sees of a GPU: kernels, copies, memsets and calls, each tied to the node that was running
 * (by its correlation id) or that was captured (by the id of its graph node). There is one in a process.
 * In a build without CUPTI every function says so. */
#ifndef PROF_ACTIVITY_CUPTI_H
#define PROF_ACTIVITY_CUPTI_H

#include "exec/observer.h"
#include "prof/trace_log.h"

/* ST_UNSUPPORTED says why it cannot be had. */
Status activity_cupti_check(void);
/* Starts to watch. ST_UNSUPPORTED when it cannot; when another profiler is attached the message names it. */
Status activity_cupti_start(TraceLog *names);
void activity_cupti_stop(void);

/* Tells which node runs, or is captured. */
Observer activity_cupti_observer(void);

/* All that has happened since the last call; the device must be idle. The events are the caller's to
 * read until the next call. `dropped` counts records CUPTI had no room for. */
Status activity_cupti_take(TraceEvent **events, size_t *n, size_t *dropped);

#endif
