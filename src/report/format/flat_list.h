/* A list of JSON objects as rows for programs: csv, jsonl and sql, with fixed columns. */
#pragma once

#include "report/format/flat_row.h"

typedef struct FlatList {
    const char *table; /* in SQL */
    const FlatColumn *columns;
    int n_columns;
    json_t *rows; /* an array of objects, borrowed */
} FlatList;

/* Is it one of the three? */
bool flat_list_has_format(const char *format);
/* jsonl has every field of a row, the others those of the columns. */
Status flat_list_write(Text *out, const char *format, const FlatList *list);
