/* SQL for sqlite3: a table that is made once and filled again and again. */
#pragma once

#include "report/format/flat_row.h"

/* One transaction: begin, a create, an insert for each row, end. */
void sql_writer_begin(Text *out, const char *table, const FlatColumn *columns, int n);
/* The n values in the order of the columns; NULL and null: none. */
void sql_writer_insert(Text *out, const char *table, const FlatColumn *columns,
                       const json_t *const *values, int n);
void sql_writer_end(Text *out);
