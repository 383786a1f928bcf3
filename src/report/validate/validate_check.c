#include "report/validate/validate_check.h"

#include "base/text.h"
#include "bench/record/record.h"

#include <math.h>
#include <string.h>

Status validate_check_each(const json_t *list, const char *what,
                           Status (*check)(const json_t *item))
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const Status status = check(json_array_get(list, i));
        if (status == ST_OK) continue;
        status_context("%s %zu", what, i + 1);
        return status;
    }
    return ST_OK;
}

bool validate_check_equal(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) + 1e-6;
}

Status validate_check_mib(const json_t *object, const char *name, const char *total)
{
    const char *part;
    json_t *value, *parts = json_object_get(object, name);
    double whole, sum = 0;
    if (!json_is_object(parts) || !record_number(object, total, &whole))
        return FAIL(ST_FAILED, "%s or %s is missing", name, total);
    json_object_foreach(parts, part, value)
    {
        if (!text_ends_with(part, "_mib") || strcmp(part, "total_mib") == 0) continue;
        sum +=
            json_is_number(value) && json_number_value(value) >= 0 ? json_number_value(value) : NAN;
    }
    if (validate_check_equal(sum, whole)) return ST_OK;
    return FAIL(ST_FAILED, "the parts of %s add up to %.6g MiB, not to %.6g", name, sum, whole);
}
