/* A text file written piece by piece, gzip'd when its name ends in .gz, that appears when it is whole. */
#pragma once

#include "base/atomic_file.h"
#include "base/text.h"

#include <zlib.h>

typedef struct GzipFile {
    AtomicFile file;
    Text text; /* for the caller to append to; taken by gzip_file_flush() */
    z_stream zip;
    bool zipped;
} GzipFile;

Status gzip_file_open(GzipFile *packed, const char *path);
/* Writes what has come together in `text` once it is worth it. */
Status gzip_file_flush(GzipFile *packed);
Status gzip_file_finish(GzipFile *packed); /* closed either way */
void gzip_file_abandon(GzipFile *packed);

/* The largest file that is looked at: a trace of many steps, unpacked. */
#define PACKED_FILE_MOST ((size_t)4 << 30)

/* Appends the whole file, unpacked if it is gzip'd, whatever its name. ST_IO when it has more than
 * `limit` bytes. */
Status gzip_file_read(Text *text, const char *path, size_t limit);
bool gzip_file_named(const char *path); /* its name ends in .gz */
