/* Trees of values from the text of files, within a limit on the memory that they take together.
 *
 * A few kilobytes of gzip can hold a gigabyte of "[],[],...", and a tree takes up to 80 times its
 * text. Lengths of files bound none of that, so what jansson allocates is counted while a file is
 * read. */
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The most that is ever allowed: a trace of a million events takes about half of it. */
#define JSON_READER_MOST ((size_t)4 << 30)

/* How much the trees of this process may take; more than JSON_READER_MOST is JSON_READER_MOST.
 * Until it is called: a quarter of the machine's memory. */
void json_reader_set_room(size_t bytes);
size_t json_reader_room(void);

/* json_loadb() within the room. ST_OK with *out NULL: it is no JSON, and `error` (may be NULL) says
 * where. ST_USAGE: its tree has no room, ST_NO_MEMORY: the system gave none; `path` is for the
 * message. *out is the caller's to json_decref(). */
Status json_reader_parse(json_t **out, const char *path, const char *text, size_t n, size_t flags,
                         json_error_t *error);

/* ---- for readers that build trees themselves ---- */
/* From json_reader_begin() to json_reader_end() this thread's allocations of jansson are held to
 * the room, and so is what is taken by json_reader_take(). What they refuse they tell as no memory.
 * Not nested. */
void json_reader_begin(void);
bool json_reader_take(size_t bytes);
/* ST_OK: nothing was refused. Otherwise as json_reader_parse(). */
Status json_reader_end(const char *path, size_t n);
