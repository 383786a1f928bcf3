/* A Python pickle with the opcodes that pickle_writer.c writes, as a JSON value; tuples become lists. */
#pragma once

#include "base/text.h"

#include <jansson.h>

/* ST_FAILED: cut short, or no such pickle; nested deeper than pickle_writer.c nests; a list within
 * itself. ST_USAGE, ST_NO_MEMORY: as json_reader_parse(). *out is the caller's to json_decref(). */
Status pickle_reader_parse(json_t **out, const char *path, const Text *text);
