/* Values of a configuration file's fields, each within its bounds. */
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stdint.h>

typedef struct FieldBounds {
    double least, most;
} FieldBounds;

/* NULL where the object has no such field, or null. */
const json_t *field_value_get(const json_t *object, const char *name);

/* ST_USAGE with one line that names the file, `where`. */
Status field_value_wrong(const char *where, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* `*out` is set if there is a value, of this kind and within the bounds. The line of a failure has the name,
 * the value and the bounds. */
Status field_value_whole(const char *where, const json_t *value, const char *name,
                         FieldBounds bounds, int64_t *out);
Status field_value_real(const char *where, const json_t *value, const char *name,
                        FieldBounds bounds, double *out);
Status field_value_flag(const char *where, const json_t *value, const char *name, bool *out);
