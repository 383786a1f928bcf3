/* Whether a JSON value is one result: names, types and required fields, from fields.def. */
#ifndef BENCH_RECORD_CHECK_H
#define BENCH_RECORD_CHECK_H

#include "bench/record.h"

/* ST_USAGE with a message that names the field: "'forward.mean_ms' must be a number, 0 or more". */
Status record_check(const json_t *value);

#endif
