/* A text file written piece by piece, gzip'd when its name ends in .gz, that appears when it is whole. */
#ifndef BASE_PACKED_FILE_H
#define BASE_PACKED_FILE_H

#include "base/text.h"
#include "base/whole_file.h"

#include <zlib.h>

typedef struct PackedFile {
    WholeFile file;
    Text text; /* for the caller to append to; taken by packed_file_flush() */
    z_stream zip;
    bool zipped;
} PackedFile;

Status packed_file_open(PackedFile *packed, const char *path);
/* Writes what has come together in `text` once it is worth it. */
Status packed_file_flush(PackedFile *packed);
Status packed_file_finish(PackedFile *packed); /* closed either way */
void packed_file_abandon(PackedFile *packed);

/* The largest file that is looked at: a trace of many steps, unpacked. */
#define PACKED_FILE_MOST ((size_t)4 << 30)

/* Appends the whole file, unpacked if it is gzip'd, whatever its name. ST_IO when it has more than `limit` bytes. */
Status packed_file_read(Text *text, const char *path, size_t limit);
bool packed_file_named(const char *path); /* its name ends in .gz */

#endif
