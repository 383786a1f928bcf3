/* Is a file that this program writes whole and consistent? */
#pragma once

#include "base/text.h"

#include <jansson.h>

/* What was found, for people: "trace, 1,234 events". */
typedef struct ValidateNote {
    char s[160];
} ValidateNote;

/* ST_FAILED with one line about what is wrong; ST_IO, ST_USAGE when it cannot be read or is nothing that
 * this program writes. */
Status validate_file(const char *path, ValidateNote *note);

/* ---- the kinds; `path` is for messages ---- */
Status validate_trace(const Text *text, const json_t *json, ValidateNote *note);
Status validate_result(const Text *text, const char *path, ValidateNote *note);
Status validate_plan(const json_t *json, ValidateNote *note);
Status validate_memory(const json_t *json, ValidateNote *note);
Status validate_snapshot(const json_t *json, ValidateNote *note);
Status validate_csv(const Text *text, const char *path, ValidateNote *note);
