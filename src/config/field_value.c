#include "config/field_value.h"

#include "base/human.h"

#include <stdarg.h>
#include <stdio.h>

const json_t *field_value_get(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

Status field_value_wrong(const char *where, const char *fmt, ...)
{
    char message[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return FAIL(ST_USAGE, "%s: %s", human_path(where).s, message);
}

Status field_value_whole(const char *where, const json_t *value, const char *name,
                         FieldBounds bounds, int64_t *out)
{
    const json_int_t whole = json_integer_value(value);
    if (!value) return field_value_wrong(where, "%s is missing", name);
    if (!json_is_integer(value)) return field_value_wrong(where, "%s is not a whole number", name);
    if ((double)whole < bounds.least || (double)whole > bounds.most)
        return field_value_wrong(where, "%s is %lld, and must be %.0f to %.0f", name,
                                 (long long)whole, bounds.least, bounds.most);
    *out = whole;
    return ST_OK;
}

Status field_value_real(const char *where, const json_t *value, const char *name,
                        FieldBounds bounds, double *out)
{
    const double real = json_number_value(value);
    if (!value) return field_value_wrong(where, "%s is missing", name);
    if (!json_is_number(value)) return field_value_wrong(where, "%s is not a number", name);
    if (!(real >= bounds.least && real <= bounds.most))
        return field_value_wrong(where, "%s is %.9g, and must be %g to %g", name, real,
                                 bounds.least, bounds.most);
    *out = real;
    return ST_OK;
}

Status field_value_flag(const char *where, const json_t *value, const char *name, bool *out)
{
    if (!json_is_boolean(value))
        return field_value_wrong(where, "%s is neither true nor false", name);
    *out = json_is_true(value);
    return ST_OK;
}
