/* Comma-separated values (RFC 4180). */
#pragma once

#include "base/text.h"

#include <jansson.h>

/* A field in quotes if it holds a comma, a quote or a line break, and with quotes doubled. A
 * text that a spreadsheet would run as a formula is quoted behind an apostrophe. The caller ends
 * lines in a line feed alone, as Unix tools expect. */
void csv_writer_field(Text *out, const char *text);
/* The same of what flat_row_put() makes of a value. */
void csv_writer_value(Text *out, const json_t *value);
