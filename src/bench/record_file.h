/* Result files: {"schema": 1, "environment": {...}, "results": [...]}, or as JSON lines the
 * environment on a line of its own and then one result per line. */
#ifndef BENCH_RECORD_FILE_H
#define BENCH_RECORD_FILE_H

#include "bench/record.h"

enum { RECORD_SCHEMA = 1 };

/* Results and where they were measured. environments[0] is this run's; others come from files
 * that were read or resumed. Every result names its own by `environment_id`. */
typedef struct RecordSet {
    json_t *environments; /* array of objects, each with an `id` */
    json_t *results;      /* array of records */
} RecordSet;

/* `environment` may be NULL: a set that only reads files. Takes no reference from the caller. */
Status record_set_init(RecordSet *set, json_t *environment);
void record_set_free(RecordSet *set);
size_t record_set_size(const RecordSet *set);
Record *record_set_at(const RecordSet *set, size_t i); /* borrowed */
/* Appends, sharing the record; one without environment_id gets that of environments[0]. */
Status record_set_add(RecordSet *set, Record *record);
/* The last result with this key, borrowed, or NULL. */
Record *record_set_find(const RecordSet *set, const char *key);
/* Of a record; borrowed, NULL when unknown. */
json_t *record_set_environment(const RecordSet *set, const Record *record);

/* Adds the results of a json or jsonl file (told apart by content). A torn last line of a jsonl
 * file is left out and `*torn` (may be NULL) says so. ST_USAGE with one line that names the file,
 * the place and what to do. Nothing is added on failure. */
Status record_file_read(RecordSet *set, const char *path, bool *torn);

/* The whole file as text, malloc'd; NULL when memory runs out. */
char *record_file_json(const RecordSet *set);
char *record_file_jsonl(const RecordSet *set);
/* One result as a line of a jsonl file, newline included, malloc'd. */
char *record_file_line(const Record *record);

/* Whole or not at all. */
Status record_file_write(const RecordSet *set, const char *path, bool jsonl);

#endif
