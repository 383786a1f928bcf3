/* Events of a trace in Kineto's format, as the page reads them. */
#pragma once

#include "bench/record/record.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Its text of that name; "": none. */
static inline const char *trace_event_word(const json_t *event, const char *name)
{
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

/* It has a begin and a duration. */
static inline bool trace_event_is_slice(const json_t *event)
{
    return strcmp(trace_event_word(event, "ph"), "X") == 0 && isfinite(record_real(event, "ts")) &&
           isfinite(record_real(event, "dur"));
}
