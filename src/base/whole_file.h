/* A file written piece by piece that appears under its name only when it is complete: a file without a name in the same
 * directory (where the file system has none, with a temporary one), fsync, link and rename. */
#ifndef BASE_WHOLE_FILE_H
#define BASE_WHOLE_FILE_H

#include "base/status.h"
#include "base/unfinished.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct WholeFile {
    int fd;
    char *path;             /* where it will be */
    Unfinished *unfinished; /* the name it has until then; NULL: it has none */
    bool device;            /* written directly */
} WholeFile;

/* Creates the file, so that what cannot be written is known before the work. */
Status whole_file_open(WholeFile *file, const char *path);
Status whole_file_write(WholeFile *file, const void *data, size_t n);
/* Replaces bytes that were written; not on a device, where they are gone. */
bool whole_file_can_rewrite(const WholeFile *file);
Status whole_file_rewrite(WholeFile *file, size_t offset, const void *data, size_t n);
/* fsync and rename. The file is closed either way; on failure nothing is left behind. */
Status whole_file_finish(WholeFile *file);
/* Gives up: removes what was written. Does nothing after whole_file_finish. */
void whole_file_abandon(WholeFile *file);

#endif
