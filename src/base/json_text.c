#include "base/json_text.h"

#include "base/array.h"
#include "base/escape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most results are ASCII: nothing is copied then. */
static bool may_hide(const char *dump)
{
    for (; *dump; dump++) {
        if ((unsigned char)*dump >= 0x7f) return true;
    }
    return false;
}

char *json_text_dumps(const json_t *value, size_t flags)
{
    char *dump = json_dumps(value, flags);
    Text text = {0};
    if (!dump || !may_hide(dump)) return dump;
    escape_put(&text, ESCAPE_IN_JSON, dump);
    free(dump);
    if (!text.failed) return text.data;
    text_free(&text);
    return NULL;
}

void json_text_put(Text *out, const json_t *value, size_t flags)
{
    char *dump = value ? json_text_dumps(value, flags) : NULL;
    text_puts(out, dump ? dump : "");
    out->failed = out->failed || !dump;
    free(dump);
}

json_t *json_text_string(const char *text)
{
    CLEANUP(array_free) char *copy = strdup(text);
    if (!copy) return NULL;
    escape_repair(copy);
    return json_string(copy);
}

json_t *json_text_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_text_reals(const double *values, int64_t n, double unit)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++) {
        if (json_array_append_new(list, json_text_real(values[i] * unit)) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

Status json_text_append(json_t *array, Text *text)
{
    Status status = text_status(text);
    if (status == ST_OK && text->n > 0 &&
        json_array_append_new(array, json_text_string(text_str(text))))
        status = NO_MEMORY("for a line of the summary");
    text_clear(text);
    return status;
}

void json_text_free(json_t **json)
{
    json_decref(*json);
}
