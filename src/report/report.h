/* Records written out for people and programs: one function per format, all listed in reports.def. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/text.h"
#include "bench/record_file.h"

typedef struct ReportInput {
    const RecordSet *set;
    const char *baseline; /* value of --baseline; NULL: no speed-up columns */
} ReportInput;

typedef Status ReportFn(Text *out, const ReportInput *input);

#define REPORT(name, help) ReportFn report_##name;
#include "report/reports.def"
#undef REPORT

/* Appends the report in the format called `format` ("md", "csv", ...). ST_USAGE: no such format,
 * or a baseline that no row has. */
Status report_write(Text *out, const char *format, const ReportInput *input);

/* Before any work: is there such a format? The message lists those there are. */
Status report_check_format(const char *format);
/* "md|csv|json|..." for help texts. */
const char *report_formats(void);

/* A report in a file that is right after every record, whatever happens to the process: jsonl
 * grows by one synced line, the others are rewritten whole and renamed into place. */
typedef struct ReportSink {
    char *path, *format;
    ReportInput input;
    RecordSet set; /* shares the records */
    int fd;        /* of a growing jsonl; -1 otherwise */
} ReportSink;

/* Writes the file at once with the records already in `start` (those resumed; may be empty), so
 * that a read-only directory or a full disk is found before the work. `start` is not kept. */
Status report_sink_open(ReportSink *sink, const char *path, const char *format,
                        const ReportInput *start);
Status report_sink_add(ReportSink *sink, Record *record);
/* The final file, rows in the order of `all`. */
Status report_sink_finish(ReportSink *sink, const ReportInput *all);
void report_sink_close(ReportSink *sink);

#endif
