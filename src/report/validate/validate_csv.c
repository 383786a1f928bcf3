#include "report/format/csv_reader.h"
#include "report/profile/nsys_csv.h"
#include "report/validate/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The report whose name the file ends in: no name is the end of another. */
static NsysReport report_of(const char *path)
{
    for (int r = 0; r < NSYS_COUNT; r++) {
        char ending[80];
        snprintf(ending, sizeof ending, "_%s.csv", nsys_csv_name((NsysReport)r));
        if (text_ends_with(path, ending)) return (NsysReport)r;
    }
    return NSYS_COUNT;
}

static double number_of(const CsvReader *line, int field)
{
    char *end;
    const char *text = csv_reader_field(line, field);
    const double x = strtod(text, &end);
    return *text && !*end ? x : NAN;
}

/* Columns of the figures of a sum: total, count, mean, ..., or -1. */
typedef struct Columns {
    int share, total, count, mean, min, max, n;
} Columns;

static Columns columns_of(NsysReport report)
{
    switch (report) {
    case NSYS_MEMORY_SIZE:
        return (Columns){-1, 0, 1, 2, 4, 5, 8};
    case NSYS_PROJECTION:
        return (Columns){-1, 2, 4, 5, 7, 8, 14};
    default:
        return (Columns){0, 1, 2, 3, 5, 6, 9};
    }
}

static Status check_row(const CsvReader *line, const Columns *c, int number, double rounding)
{
    const double total = number_of(line, c->total), n = number_of(line, c->count);
    const double mean = number_of(line, c->mean);
    if (isnan(total) || isnan(mean) || !(n >= 1))
        return FAIL(ST_FAILED, "line %d: a figure is missing", number);
    if (fabs(total - mean * n) > rounding * (n + 1))
        return FAIL(ST_FAILED, "line %d: the total is not the mean times the count", number);
    if (number_of(line, c->min) > mean + rounding || mean > number_of(line, c->max) + rounding)
        return FAIL(ST_FAILED, "line %d: the mean is not between min and max", number);
    return ST_OK;
}

static Status check_trace_row(const CsvReader *line, int number)
{
    const double start = number_of(line, 0), duration = number_of(line, 1);
    if (line->n != 20 || isnan(start) || !(duration >= 0) || !*csv_reader_field(line, 19))
        return FAIL(ST_FAILED, "line %d: not a row of a trace", number);
    return ST_OK;
}

static Status check_rows(NsysReport report, CsvReader *line, int *rows)
{
    const Columns c = columns_of(report);
    double share = 0;
    for (bool more = true;;) {
        const int number = *rows + 2;
        TRY(csv_reader_next(line, &more));
        if (!more) break;
        (*rows)++;
        if (report == NSYS_TRACE) {
            TRY(check_trace_row(line, number));
            continue;
        }
        if (line->n != c.n)
            return FAIL(ST_FAILED, "line %d: %d fields, not %d", number, line->n, c.n);
        TRY(check_row(line, &c, number, report == NSYS_MEMORY_SIZE ? 0.0006 : 0.6));
        if (c.share >= 0) share += number_of(line, c.share);
    }
    if (report != NSYS_TRACE && c.share >= 0 && *rows > 0 &&
        fabs(share - 100) > 0.06 * *rows + 0.01)
        return FAIL(ST_FAILED, "the shares add up to %.1f %%", share);
    return ST_OK;
}

Status validate_csv(const Text *text, const char *path, ValidateNote *note)
{
    const NsysReport report = report_of(path);
    if (report == NSYS_COUNT)
        return FAIL(ST_USAGE,
                    "its name ends in none of the reports, as _cuda_gpu_kern_sum.csv does");
    const char *header = nsys_csv_header(report), *at = text_str(text);
    const size_t n = strlen(header);
    int rows = 0;
    if (strncmp(at, header, n) != 0 || at[n] != '\n')
        return FAIL(ST_FAILED, "its first line is not the header of %s", nsys_csv_name(report));
    if (at[text->n - 1] != '\n') return FAIL(ST_FAILED, "its last line is cut short");
    CLEANUP(csv_reader_close) CsvReader line;
    csv_reader_open(&line, at + n + 1, text->n - n - 1);
    const Status status = check_rows(report, &line, &rows);
    TRY(status == ST_USAGE ? ST_FAILED : status); /* no CSV */
    snprintf(note->s, sizeof note->s, "%s, %d rows", nsys_csv_name(report), rows);
    return ST_OK;
}
