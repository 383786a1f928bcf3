#include "base/folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

Status folder_make(const char *path)
{
    struct stat info;
    if (mkdir(path, 0777) == 0) return ST_OK;
    if (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return ST_OK;
    return FAIL(ST_IO, "cannot make the folder %s: %s", path,
                strerror(errno == EEXIST ? ENOTDIR : errno));
}
