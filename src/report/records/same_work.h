/* Rows that agree in a number of fields have the same text of them. */
#pragma once

#include "base/text.h"
#include "bench/record/record.h"

/* Appends the values of the n fields, each on a line; nothing for one that the row lacks. */
void same_work_fields(Text *out, const Record *record, const char *const *names, size_t n);
/* The same of every field that says what a cell's work is (config/cell_fields.def), but for these n. */
void same_work_put(Text *out, const Record *record, const char *const *but, size_t n);
