#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Status failure(const WholeFile *file, const char *what)
{
    return FAIL(ST_IO, "%s: cannot %s: %s", file->path, what, strerror(errno));
}

/* mkstemp makes the file private; the result has the mode that the user's umask gives. */
static void usual_mode(int fd)
{
    const mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, 0666 & ~mask);
}

Status whole_file_open(WholeFile *file, const char *path)
{
    *file = (WholeFile){.fd = -1};
    struct stat st;
    file->path = strdup(path);
    if (!file->path || asprintf(&file->temporary, "%s.XXXXXX", path) < 0) {
        file->temporary = NULL;
        whole_file_abandon(file);
        return FAIL(ST_NO_MEMORY, "no memory for a file name");
    }
    Status status = ST_OK;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        status = FAIL(ST_IO, "%s is a directory: name a file in it", path);
    } else {
        file->fd = mkstemp(file->temporary);
        if (file->fd < 0) status = failure(file, "create it");
    }
    if (status != ST_OK) {
        whole_file_abandon(file);
        return status;
    }
    usual_mode(file->fd);
    return ST_OK;
}

Status whole_file_write(WholeFile *file, const void *data, size_t n)
{
    const char *at = data;
    while (n > 0) {
        const ssize_t wrote = write(file->fd, at, n);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return failure(file, "write it");
        at += wrote;
        n -= (size_t)wrote;
    }
    return ST_OK;
}

Status whole_file_finish(WholeFile *file)
{
    Status status = ST_OK;
    if (fsync(file->fd) || rename(file->temporary, file->path)) status = failure(file, "finish it");
    if (status == ST_OK) {
        free(file->temporary);
        file->temporary = NULL;
    }
    whole_file_abandon(file);
    return status;
}

void whole_file_abandon(WholeFile *file)
{
    if (file->fd >= 0) close(file->fd);
    if (file->temporary && file->fd >= 0) unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (WholeFile){.fd = -1};
}
