/* Is a file that this program writes whole and consistent? */
#pragma once

#include "base/text.h"

#include <jansson.h>

/* A summary for people: "trace, 1,234 events". */
typedef struct ValidateNote {
    char s[160];
} ValidateNote;

/* ST_FAILED with one line about what is wrong; ST_IO, ST_USAGE when it cannot be read or is
 * nothing that this program writes. */
/* A page, a table or a picture, by its name: there is nothing to check. */
bool validate_is_document(const char *path);
Status validate_file(const char *path, ValidateNote *note);

/* A Python pickle with the opcodes that pickle_writer.c writes, as a JSON value; tuples become
 * lists. ST_FAILED: cut short, or no such pickle; nested deeper than pickle_writer.c nests; a list
 * within itself. ST_USAGE, ST_NO_MEMORY: as json_reader_parse(). *out is the caller's to
 * json_decref(). */
Status pickle_reader_parse(json_t **out, const char *path, const Text *text);

/* ---- the kinds; `path` is for messages ---- */
Status validate_trace(const Text *text, const json_t *json, ValidateNote *note);
Status validate_result(const Text *text, const char *path, ValidateNote *note);
Status validate_plan(const json_t *json, ValidateNote *note);
Status validate_memory(const json_t *json, ValidateNote *note);
Status validate_snapshot(const json_t *json, ValidateNote *note);
Status validate_csv(const Text *text, const char *path, ValidateNote *note);
