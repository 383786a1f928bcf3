/* Folders that results go to. */
#pragma once

#include "base/status.h"

/* There already, or made now. The folder it is in must be there: a typing error makes no tree of folders. */
Status folder_make(const char *path);
/* Whether writing to what is in the folder `part` of `folder` ("." for itself) stays in `folder`: a
 * folder of someone else may hold a link to a file elsewhere, which would be overwritten, or a
 * pipe, which would be waited for. ST_USAGE names it. */
Status folder_check_own(const char *folder, const char *part);
