/* A profile as JSON: the field `profile` of a record. Its names are a contract (docs/formats.md). */
#pragma once

#include "bench/estimate/time_estimate.h"
#include "prof/profiler.h"

#include <jansson.h>

/* A new reference. All times are in nanoseconds. */
Status profile_record_make(json_t **out, const Profiler *p, const TimeEstimate *estimate);

/* {"n", "total", "avg", "med", "min", "max", "std"}, each multiplied by `unit`; null of an empty one. */
json_t *profile_record_stats(const RunningStats *stats, double unit);
/* The same in ns, its 99th percentile, and what stands around the longest. */
json_t *profile_record_gaps(const HostGaps *gaps);
