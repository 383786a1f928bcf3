/* Locks on what a command writes, so that of two that write one file or folder the second is
 * refused.
 *
 * A lock is an empty file beside the output (.NAME.roofstep.lock) or in the folder (.roofstep.lock)
 * that this process holds by fcntl(): it is there before the output is, it ends with the process
 * however that ends, and a process that is forked from this one does not have it. The process that
 * holds a folder's lock may write everything below it that no other was writing before, and so may
 * the processes that it starts. Where there are no locks a warning says so, once, and the work goes
 * on. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

/* Held until file_lock_release_all(); taking it twice is taking it once. ST_USAGE, in one line that
 * names the output and the process: another one has it. Pipes and devices have no lock, nor has
 * what cannot be written anyhow: writing it says why. */
Status file_lock_take(const char *path);
/* The folder must be there. Refused, too, while another process writes a file in it. */
Status file_lock_take_folder(const char *folder);
/* Takes nothing: for a file that is only read. */
Status file_lock_check(const char *path);
/* Removes the files. In a process that was forked it does nothing. A handler of signals may call it. */
void file_lock_release_all(void);

/* Two spellings of one file, which need not be there. */
bool file_lock_is_same(const char *a, const char *b);
