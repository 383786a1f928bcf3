/* Temporary files: NAME.roofstep-PID-N.tmp beside NAME until NAME is complete. A signal that ends the
 * program removes the temporary files of this process first. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct TempFile TempFile;

/* An empty file beside `path`, open for writing as *fd. NULL: errno says why not. */
TempFile *temp_file_create(const char *path, int *fd);
const char *temp_file_path(const TempFile *unfinished);
/* Renames it to `path` and frees it; on failure (errno) it stays. */
bool temp_file_put(TempFile *unfinished, const char *path);
/* Removes it. NULL is allowed. */
void temp_file_remove(TempFile *unfinished);

/* Links a file without a name (O_TMPFILE) as `path` and replaces a file of that name. On failure
 * (errno) nothing changes. */
bool temp_file_name(int fd, const char *path);

/* SIGINT, SIGTERM, SIGHUP and SIGPIPE remove temporary files and locks before they end the program.
 * SIGXFSZ is ignored: a write beyond the file size limit fails instead. */
void temp_file_clean_up_on_signals(void);
/* Removes temporary files in the folder whose process no longer exists. */
void temp_file_remove_stale(const char *folder);
/* Removes only temporary files of `path`, whose lock the caller holds. Other files of the folder may
 * belong to processes on other machines, which cannot be seen from here. */
void temp_file_remove_stale_of(const char *path);
