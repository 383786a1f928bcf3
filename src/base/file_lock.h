/* Locks on output files and folders: of two processes that write the same one, the second is refused.
 *
 * A lock is an empty file beside the output (.NAME.roofstep.lock) or in the folder (.roofstep.lock), held by
 * fcntl(). It exists before the output does, ends with the process however that ends, and is not inherited by
 * a forked child. Who holds a folder's lock may write everything below it, except files that another process
 * had locked before; so may the processes that it starts. Where the file system has no locks, one warning
 * says so and the work goes on. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

/* Held until file_lock_release_all(). Taking it again does nothing. ST_USAGE: another process has it; the
 * message names the output and the process. Pipes, devices and what cannot be written are not locked: writing
 * to the latter fails with a reason. */
Status file_lock_take(const char *path);
/* The folder must exist. ST_USAGE also while another process writes a file in it. */
Status file_lock_take_folder(const char *folder);
/* ST_USAGE when another process writes the file. Takes no lock: for a file that is only read. */
Status file_lock_check(const char *path);
/* Removes the lock files. Does nothing in a forked child. A signal handler may call it. */
void file_lock_release_all(void);

/* Do two paths name the same file? It need not exist. */
bool file_lock_is_same(const char *a, const char *b);
