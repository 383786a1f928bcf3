#include "report/records/same_work.h"

#include "config/cell_field.h"

#include <stdlib.h>
#include <string.h>

static void put_field(Text *out, const Record *record, const char *name)
{
    const json_t *value = record_value(record, name);
    char *dump = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (value && !dump) out->failed = true;
    text_puts(out, dump ? dump : "");
    text_puts(out, "\n"); /* which no value has in it */
    free(dump);
}

void same_work_fields(Text *out, const Record *record, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) put_field(out, record, names[i]);
}

void same_work_put(Text *out, const Record *record, const char *const *but, size_t n)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        const char *name = cell_field_table[id].name;
        bool left_out = !cell_field_is_work(id);
        for (size_t i = 0; i < n && !left_out; i++) left_out = strcmp(name, but[i]) == 0;
        if (left_out) continue;
        if (cell_field_table[id].show == CELL_SHOW_REPEATS && !record_value(record, name))
            text_puts(out, "1\n");
        else
            put_field(out, record, name);
    }
}
