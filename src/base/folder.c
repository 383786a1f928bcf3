#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

bool folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int n = slash ? (int)(slash - path) + 1 : 1;
    return snprintf(folder, PATH_MAX, "%.*s", n, slash ? path : ".") < PATH_MAX;
}

/* `top` has no links in it. */
static bool leads_out(const char *path, const char *top)
{
    char real[PATH_MAX];
    const size_t n = strlen(top);
    if (!realpath(path, real)) return true;
    return strncmp(real, top, n) != 0 || (real[n] != '/' && top[n - 1] != '/');
}

static Status check_entry(const char *path, const char *top)
{
    struct stat info;
    const bool there = stat(path, &info) == 0;
    if (leads_out(path, top))
        return FAIL(ST_USAGE, "%s is a link to what is not in that folder: remove it", path);
    if (there && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) return ST_OK;
    return FAIL(ST_USAGE, "%s is neither a file nor a folder: remove it", path);
}

Status folder_check_own(const char *folder, const char *part)
{
    char top[PATH_MAX], inner[PATH_MAX], path[PATH_MAX];
    const bool itself = strcmp(part, ".") == 0;
    Status status = ST_OK;
    if (!realpath(folder, top)) return ST_OK; /* it is not there yet */
    const int n =
        snprintf(inner, sizeof inner, "%s%s%s", folder, itself ? "" : "/", itself ? "" : part);
    DIR *dir = n < PATH_MAX ? opendir(inner) : NULL;
    for (const struct dirent *entry; status == ST_OK && dir && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", inner, name) < PATH_MAX)
            status = check_entry(path, top);
    }
    if (dir) closedir(dir);
    return status;
}
