/* A folder in memory (/dev/shm) where launchers and MPI keep their files while ranks run. Ranks
 * that are killed leave theirs behind, and those of shared memory take memory until they are
 * removed. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* Makes roofstep-ranks-PID-XXXXXX and removes such folders of processes that are gone. False:
 * none can be made. */
bool launch_folder_make(char path[PATH_MAX]);
/* Removes what is in it; with `itself`, the folder too. */
void launch_folder_clear(const char *path, bool itself);
/* In the process that becomes the launcher. */
void launch_folder_use(const char *path);
