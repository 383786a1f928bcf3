/* The names of files that are not whole yet: NAME.roofstep-PID-N.tmp beside NAME. A signal that
 * ends the program removes those of this process first. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct TempFile TempFile;

/* An empty file beside `path`, open for writing as *fd. NULL: errno says why not. */
TempFile *temp_file_create(const char *path, int *fd);
/* Puts it in the place of `path`, then forgets it; on failure (errno) it stays as it is. */
bool temp_file_put(TempFile *unfinished, const char *path);
/* Removes it. NULL is allowed. */
void temp_file_remove(TempFile *unfinished);

/* A file without a name (O_TMPFILE) gets the name `path`, in the place of what is there. On failure
 * (errno) nothing has changed. */
bool temp_file_name(int fd, const char *path);

/* SIGINT, SIGTERM, SIGHUP and SIGPIPE remove what is unfinished and the locks before they end the
 * program; a file larger than it may be is a write that fails. */
void temp_file_clean_up_on_signals(void);
/* Removes the unfinished files in the folder whose process is gone (killed), and nothing else. */
void temp_file_remove_stale(const char *folder);
/* Only what was to become `path`, whose lock the caller has: beside it others may be writing, also
 * on other machines, whose processes cannot be seen from here. */
void temp_file_remove_stale_of(const char *path);
