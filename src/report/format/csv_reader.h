/* Comma-separated values (RFC 4180), row by row. */
#pragma once

#include "base/text.h"

enum { CSV_READER_FIELDS = 256 }; /* of a row, at most */

typedef struct CsvReader {
    const char *at, *end; /* what is left of the text, which outlives it */
    size_t line;          /* at which the row began, from 1 on */
    size_t next_line;
    int n; /* fields of the row */
    size_t starts[CSV_READER_FIELDS];
    Text fields; /* of the row, each ended by a zero byte */
} CsvReader;

/* A byte order mark is passed over. csv_reader_close() frees. */
void csv_reader_open(CsvReader *reader, const char *text, size_t n);
void csv_reader_close(CsvReader *reader);
/* The next row; `more` is false behind the last. Lines may end in CR LF, the last one in
 * nothing. ST_USAGE, without the file's name: a quoted field that does not end, too many fields,
 * a zero byte. */
Status csv_reader_next(CsvReader *reader, bool *more);
/* Of the row at hand, until the next one is read; "" beyond its last. */
const char *csv_reader_field(const CsvReader *reader, int i);
