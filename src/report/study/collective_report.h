/* Rows of `collective`: a table for people, csv with a line for each row, or a result file. */
#pragma once

#include "report/records/report.h"

#define COLLECTIVE_REPORT_FORMATS "md csv json jsonl latex typst"

Status collective_report_write(Text *out, const char *format, const RecordSet *rows);
