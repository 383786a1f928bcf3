/* Folders that results go to. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include "base/status.h"

/* There already, or made now. The folder it is in must be there: a typing error makes no tree of folders. */
Status folder_make(const char *path);

#endif
