/* Records written out for people and programs: the formats are listed in report/format/reports.def. */
#pragma once

#include "base/text.h"
#include "bench/record/record_file.h"

typedef struct ReportInput {
    const RecordSet *set;
    const char *baseline; /* value of --baseline; NULL: no speed-up columns */
} ReportInput;

typedef Status ReportFn(Text *out, const ReportInput *input);

ReportFn report_csv, report_json, report_jsonl, report_sql;

/* Appends the report in the format called `format` ("md", "csv", ...). ST_USAGE: no such format,
 * or a baseline that no row has. */
Status report_write(Text *out, const char *format, const ReportInput *input);

/* Appends a result file with what a study made of its rows under `name`; takes `value` over. */
Status report_study_json(Text *out, const RecordSet *rows, const char *name, json_t *value);

/* Formats of a study, for OptionSet.formats: csv has rows of its own. */
#define REPORT_STUDY_FORMATS "md csv json latex typst"
/* The names, blanks between: "md csv json ...". OptionSet.formats of a command that writes records. */
extern const char report_formats[];

/* Appends the endings of some of them: ".md, .csv". */
void report_endings(Text *out, const char *formats);

/* The format that the ending of a file's name asks for; NULL: none. */
const char *report_format_of(const char *path);
