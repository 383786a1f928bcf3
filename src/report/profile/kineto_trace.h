/* The events of a profile as a trace that ui.perfetto.dev, HTA and chrome://tracing read: Kineto's
 * layout, one JSON object. */
#pragma once

#include "bench/study/profile_cell.h"

/* `path` ends in .json or .json.gz. `source`: with the file and line of every op. */
Status kineto_trace_write(const char *path, const CellOpen *cell, const Profiler *profiler,
                          bool source);
