/* The events of a profile as a trace that ui.perfetto.dev, HTA and chrome://tracing read: Kineto's
 * layout, one JSON object. */
#ifndef REPORT_PROFILE_KINETO_TRACE_H
#define REPORT_PROFILE_KINETO_TRACE_H

#include "bench/study/profile_cell.h"

/* `path` ends in .json or .json.gz. `source`: with the file and line of every op. */
Status kineto_trace_write(const char *path, const CellOpen *cell, const Profiler *profiler,
                          bool source);

#endif
