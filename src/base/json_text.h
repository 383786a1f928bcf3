/* JSON of jansson, as text and from text. */
#pragma once

#include "base/text.h"

#include <jansson.h>
#include <stdint.h>

/* json_dumps(), with characters that act without being seen (escape.h) written by their numbers:
 * the same value, and nothing a terminal obeys. The caller frees it; NULL: no memory. */
char *json_text_dumps(const json_t *value, size_t flags);

/* Appends json_text_dumps() to the text, which fails for NULL. */
void json_text_put(Text *out, const json_t *value, size_t flags);

/* json_string() of a text that may not be UTF-8: such bytes become '?'. NULL: no memory. */
json_t *json_text_string(const char *text);

/* json_real(), or null for what is not finite. */
json_t *json_text_real(double value);
/* The same of n numbers, each multiplied by `unit`. NULL: no memory. */
json_t *json_text_reals(const double *values, int64_t n, double unit);

/* Appends the text to the array and empties it. An empty text is left out. */
Status json_text_append(json_t *array, Text *text);

/* json_decref() of the value at `json`, for CLEANUP(). */
void json_text_free(json_t **json);
