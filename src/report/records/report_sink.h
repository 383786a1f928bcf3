/* A report in a file that is right after every record, whatever happens to the process: jsonl
 * grows by one synced line, the others are rewritten whole and renamed into place. */
#pragma once

#include "report/records/report.h"

typedef struct ReportSink {
    char *path, *format;
    RecordSet set; /* shares the records */
    int fd;        /* of a growing jsonl; -1 otherwise */
    bool stream;   /* a pipe or a terminal: what was written cannot be taken back */
    bool waits;    /* an older file stays until the first record is there */
} ReportSink;

/* Writes the file at once with the records already in `start` (those resumed; may be empty), so
 * that a read-only directory or a full disk is found before the work. `start` is not kept. A
 * stream gets jsonl line by line and any other format once, by report_sink_finish(). A file that
 * is there already and is not resumed stays until the first record. The caller has locked it
 * (base/file_lock.h). */
Status report_sink_open(ReportSink *sink, const char *path, const char *format,
                        const RecordSet *start);
Status report_sink_add(ReportSink *sink, Record *record);
/* The final file, rows in the order of `all`, with the speed-up columns, which need all rows. */
Status report_sink_finish(ReportSink *sink, const ReportInput *all);
void report_sink_close(ReportSink *sink);
