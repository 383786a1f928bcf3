#include "report/format/csv_reader.h"

#include <string.h>

void csv_reader_open(CsvReader *reader, const char *text, size_t n)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t skipped = n >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    *reader = (CsvReader){.at = text + skipped, .end = text + n, .next_line = 1};
}

void csv_reader_close(CsvReader *reader)
{
    text_free(&reader->fields);
    *reader = (CsvReader){0};
}

static Status begin_field(CsvReader *r)
{
    if (r->n == CSV_READER_FIELDS)
        return FAIL(ST_USAGE, "line %zu: more than %d fields", r->line, CSV_READER_FIELDS);
    r->starts[r->n++] = r->fields.n;
    return ST_OK;
}

/* From after the first quote to after the last; "" is one. */
static Status read_quoted(CsvReader *r)
{
    for (r->at++; r->at < r->end; r->at++) {
        const bool twice = r->at[0] == '"' && r->at + 1 < r->end && r->at[1] == '"';
        if (*r->at == '"' && !twice) {
            r->at++;
            return ST_OK;
        }
        r->at += twice;
        r->next_line += *r->at == '\n';
        text_append(&r->fields, r->at, 1);
    }
    return FAIL(ST_USAGE, "line %zu: a quoted field does not end: the file is cut short", r->line);
}

static bool ends_line(const CsvReader *r)
{
    const bool pair = r->at + 1 < r->end && r->at[0] == '\r' && r->at[1] == '\n';
    return r->at == r->end || *r->at == '\n' || pair;
}

static Status read_field(CsvReader *r)
{
    TRY(begin_field(r));
    while (!ends_line(r) && *r->at != ',') {
        const char *from = r->at;
        if (*r->at == '"') {
            TRY(read_quoted(r));
            continue;
        }
        while (!ends_line(r) && *r->at != ',' && *r->at != '"') r->at++;
        text_append(&r->fields, from, (size_t)(r->at - from));
    }
    text_append(&r->fields, "", 1);
    return ST_OK;
}

Status csv_reader_next(CsvReader *r, bool *more)
{
    *more = r->at < r->end;
    r->n = 0;
    r->line = r->next_line;
    text_clear(&r->fields);
    if (!*more) return ST_OK;
    TRY(read_field(r));
    while (!ends_line(r)) {
        r->at++; /* the comma */
        TRY(read_field(r));
    }
    if (r->at < r->end && *r->at == '\r') r->at++;
    if (r->at < r->end) r->at++;
    r->next_line++;
    TRY(text_status(&r->fields));
    /* each field has one zero byte, its end */
    size_t zeros = 0;
    for (size_t i = 0; i < r->fields.n; i++) zeros += r->fields.data[i] == '\0';
    if (zeros != (size_t)r->n)
        return FAIL(ST_USAGE, "line %zu: a zero byte: this is not a text file", r->line);
    return ST_OK;
}

const char *csv_reader_field(const CsvReader *r, int i)
{
    return i >= 0 && i < r->n ? r->fields.data + r->starts[i] : "";
}
