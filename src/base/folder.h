/* Folders that results go to. */
#pragma once

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>

/* Creates the folder unless it exists. Its parent must exist, so that a typing error creates no tree. */
Status folder_make(const char *path);
/* The folder that holds the file: up to its last slash, or ".". False: the path is too long. */
bool folder_of(const char *path, char folder[PATH_MAX]);
/* Checks that writing to files in the folder `part` of `folder` ("." for itself) stays in `folder`.
 * Another user's folder may hold a link to a file elsewhere, which we would overwrite, or a pipe, which
 * we would wait for. ST_USAGE names it. */
Status folder_check_own(const char *folder, const char *part);
