/* Whether a JSON value is one result: names, types and required fields, from fields.def. */
#pragma once

#include "bench/record/record.h"

/* ST_USAGE with a message that names the field: "'forward.mean_ms' must be a number, 0 or more". */
Status record_check(json_t *value);
/* ST_USAGE: a number somewhere in it would be infinite after it was written and read again. */
Status record_check_numbers(json_t *value);
