/* A profile as JSON: the field `profile` of a record. Its names are a contract (docs/formats.md). */
#ifndef BENCH_PROFILE_RECORD_H
#define BENCH_PROFILE_RECORD_H

#include "bench/outlook.h"
#include "prof/profiler.h"

#include <jansson.h>

/* A new reference. All times are in nanoseconds. */
Status profile_record_make(json_t **out, const Profiler *p, const Outlook *outlook);

#endif
