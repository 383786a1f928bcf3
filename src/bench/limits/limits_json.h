/* Limits as JSON: what is stored, and what `limits --format json` prints. */
#pragma once

#include "bench/limits/limits.h"

#include <jansson.h>

Status limits_json_encode(json_t **out, const Limits *limits); /* a new reference */
/* ST_IO with what is wrong when a figure is missing or is not a number that could be one. */
Status limits_json_decode(Limits *out, const json_t *from);
/* The same from n bytes of text. */
Status limits_json_read(Limits *out, const char *text, size_t n);
/* The file that `roofstep limits --format json` wrote on another machine, plain or packed (.gz).
 * ST_USAGE names the file and says what is wrong with it. */
Status limits_json_read_file(Limits *out, const char *path);
