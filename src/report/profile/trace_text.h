/* The events of a trace file as text: each a JSON object on a line of its own, after a comma. */
#pragma once

#include "base/text.h"

#include <stdint.h>

void trace_text_string(Text *t, const char *s);
/* ", "NAME": 12.345": ns as microseconds with three decimals. */
void trace_text_time(Text *t, const char *name, int64_t ns);

/* All but the arguments and the two braces that end it. Times in ns, `at` from the trace's base. */
void trace_text_slice(Text *t, const char *category, const char *name, int pid, int tid, int64_t at,
                      int64_t took);
/* `ph` is "s" at the begin of an arrow, "f" at its end. */
void trace_text_flow(Text *t, const char *ph, int pid, int tid, int64_t at, uint32_t id);
/* What a process or a thread is called. */
void trace_text_named(Text *t, const char *what, int pid, int tid, const char *key,
                      const char *value);
