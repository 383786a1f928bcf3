/* A result as one flat row: every field of fields.def, phases spelled out (forward_mean_ms), then
 * its environment. What csv and sql have in common. */
#pragma once

#include "base/text.h"
#include "bench/record/record_set.h"

typedef struct FlatColumn {
    const char *name;
    const char *path; /* in the record, or in its environment */
    bool environment;
    const char *sql_type; /* TEXT, INTEGER or REAL */
    int cells;            /* while they are listed: a group of a cell's fields instead; 0: none */
} FlatColumn;

/* All n of them. */
const FlatColumn *flat_row_columns(int *n);

/* The value, borrowed; NULL when there is none. */
const json_t *flat_row_value(const FlatColumn *column, const RecordSet *set, const Record *record);
/* Appends it as text: numbers with 15 significant digits, arrays as JSON, nothing for NULL and null. */
void flat_row_put(Text *out, const json_t *value);
