/* Result files: {"schema": 1, "environment": {...}, "results": [...]}, or as JSON lines the
 * environment on a line of its own and then one result per line. */
#pragma once

#include "base/text.h"
#include "bench/record/record_set.h"

enum { RECORD_SCHEMA = 1 };

/* Adds the results of a json or jsonl file (told apart by content). A torn last line of a jsonl
 * file is left out and `*torn` (may be NULL) says so. ST_USAGE with one line that names the file,
 * the place and what to do. Nothing is added on failure. */
Status record_file_read(RecordSet *set, const char *path, bool *torn);
/* The same of a file's text; `path` is for messages. */
Status record_file_parse(RecordSet *set, const char *text, size_t n, const char *path, bool *torn);

/* Appends the whole file, or one result as a line of a jsonl file. */
Status record_file_json(Text *out, const RecordSet *set);
Status record_file_jsonl(Text *out, const RecordSet *set);
Status record_file_line(Text *out, const Record *record);
