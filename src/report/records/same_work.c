#include "report/records/same_work.h"

#include <stdlib.h>

bool same_work_put(Text *out, const Record *record, const char *const *fields, size_t n)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = record_value(record, fields[i]);
        char *dump =
            value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        if (value && !dump) out->failed = true;
        text_puts(out, dump ? dump : "");
        text_puts(out, "\n"); /* which no value has in it */
        free(dump);
        all = all && value;
    }
    return all;
}
