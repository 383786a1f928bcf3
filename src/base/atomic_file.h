/* A file written piece by piece that appears under its name only when it is complete: a file
 * without a name in the same directory (where the file system has none, with a temporary one),
 * fsync, link and rename. */
#pragma once

#include "base/status.h"
#include "base/temp_file.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct AtomicFile {
    int fd;
    char *path;           /* where it will be */
    TempFile *unfinished; /* the name it has until then; NULL: it has none */
    bool device;          /* written directly */
} AtomicFile;

/* Creates the file, so that what cannot be written is known before the work. */
Status atomic_file_open(AtomicFile *file, const char *path);
Status atomic_file_write(AtomicFile *file, const void *data, size_t n);
/* Replaces bytes that were written; not on a device, where they are gone. */
Status atomic_file_rewrite(AtomicFile *file, size_t offset, const void *data, size_t n);
/* fsync and rename. The file is closed either way; on failure nothing is left behind. */
Status atomic_file_finish(AtomicFile *file);
/* Gives up: removes what was written. Does nothing after atomic_file_finish. */
void atomic_file_abandon(AtomicFile *file);
