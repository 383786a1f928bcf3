#include "base/atomic_file.h"

#include "base/error_text.h"
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Status failure(const char *path, const char *what)
{
    return FAIL(ST_IO, "cannot %s %s: %s", what, path, error_text(errno));
}

/* ---- opening ---- */

/* A file without a name: whatever ends the program, nothing is left behind. It gets its name through /proc;
 * some file systems have no such files. It can be read, so that copy_to_named() can copy it. */
static bool open_nameless(AtomicFile *file)
{
    char folder[PATH_MAX];
    if (!folder_of(file->path, folder) || access("/proc/self/fd", X_OK) != 0) return false;
    file->fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
    return file->fd >= 0;
}

static Status open_named(AtomicFile *file)
{
    file->unfinished = temp_file_create(file->path, &file->fd);
    return file->unfinished ? ST_OK : failure(file->path, "create");
}

/* `old` is the file that is replaced, NULL when there is none. */
static Status open_replacement(AtomicFile *file, const char *path, const struct stat *old)
{
    char real[PATH_MAX]; /* a link stays a link */
    file->path = strdup(old && realpath(path, real) ? real : path);
    if (!file->path) return NO_MEMORY("for a file name");
    if (!open_nameless(file)) TRY(open_named(file));
    if (old) (void)!fchmod(file->fd, old->st_mode & 07777);
    return ST_OK;
}

/* A terminal, a pipe, /dev/null: nothing can take its place, so it is written as it is. */
static Status open_device(AtomicFile *file, const char *path)
{
    file->device = true;
    file->path = strdup(path);
    if (!file->path) return NO_MEMORY("for a file name");
    file->fd = open(path, O_WRONLY | O_CLOEXEC);
    return file->fd >= 0 ? ST_OK : failure(path, "write");
}

Status atomic_file_open(AtomicFile *file, const char *path)
{
    struct stat old;
    *file = (AtomicFile){.fd = -1};
    if (*path == 0) return FAIL(ST_IO, "a file needs a name");
    const bool there = stat(path, &old) == 0;
    if (!there && errno != ENOENT) return failure(path, "create");
    if (there && S_ISDIR(old.st_mode))
        return FAIL(ST_IO, "cannot write %s: it is a directory", path);
    const Status status = there && !S_ISREG(old.st_mode)
                              ? open_device(file, path)
                              : open_replacement(file, path, there ? &old : NULL);
    if (status != ST_OK) atomic_file_abandon(file);
    return status;
}

/* ---- writing ---- */

/* `offset` is where to write; -1: after what was written last. */
static Status write_at(AtomicFile *file, off_t offset, const char *data, size_t n)
{
    while (n > 0) {
        const ssize_t written =
            offset < 0 ? write(file->fd, data, n) : pwrite(file->fd, data, n, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failure(file->path, "write");
        data += written;
        n -= (size_t)written;
        if (offset >= 0) offset += written;
    }
    return ST_OK;
}

Status atomic_file_write(AtomicFile *file, const void *data, size_t n)
{
    return write_at(file, -1, data, n);
}

Status atomic_file_rewrite(AtomicFile *file, size_t offset, const void *data, size_t n)
{
    return write_at(file, (off_t)offset, data, n);
}

/* ---- finishing ---- */

/* A rename lasts only once the folder is on disk too. Some file systems cannot sync a folder: the
 * data are written by then, so that is no failure. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const int fd = folder_of(path, folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

static Status sync_written(const AtomicFile *file)
{
    const bool synced = file->device || fsync(file->fd) == 0 || errno == EINVAL;
    return synced ? ST_OK : failure(file->path, "write");
}

static Status close_written(AtomicFile *file)
{
    const int closed = close(file->fd);
    file->fd = -1;
    return closed == 0 ? ST_OK : failure(file->path, "write");
}

/* For where a policy forbids links: what was written goes into a file with a name. */
static Status copy_to_named(AtomicFile *file)
{
    static char bytes[1 << 16];
    AtomicFile named = {.fd = -1, .path = file->path};
    struct stat info;
    off_t at = 0;
    ssize_t n = 0;
    TRY(open_named(&named));
    if (fstat(file->fd, &info) == 0) (void)!fchmod(named.fd, info.st_mode & 07777);
    Status status = ST_OK;
    while (status == ST_OK && (n = pread(file->fd, bytes, sizeof bytes, at)) > 0) {
        status = atomic_file_write(&named, bytes, (size_t)n);
        at += n;
    }
    if (status == ST_OK && n < 0) status = failure(file->path, "read back");
    if (status == ST_OK) status = sync_written(&named);
    /* The caller knows the file by its number. */
    if (status == ST_OK && dup3(named.fd, file->fd, O_CLOEXEC) < 0)
        status = failure(file->path, "create");
    close(named.fd);
    file->unfinished = named.unfinished; /* removed with the rest after a failure */
    return status;
}

static Status put_in_place(AtomicFile *file)
{
    if (file->device) return ST_OK;
    if (!file->unfinished && !temp_file_name(file->fd, file->path)) TRY(copy_to_named(file));
    if (file->unfinished) {
        if (!temp_file_put(file->unfinished, file->path)) return failure(file->path, "replace");
        file->unfinished = NULL;
    }
    sync_folder(file->path);
    return ST_OK;
}

Status atomic_file_finish(AtomicFile *file)
{
    Status status = sync_written(file);
    if (status == ST_OK && (file->device || file->unfinished)) status = close_written(file);
    if (status == ST_OK) status = put_in_place(file);
    atomic_file_abandon(file);
    return status;
}

void atomic_file_abandon(AtomicFile *file)
{
    if (file->fd >= 0) close(file->fd);
    temp_file_remove(file->unfinished);
    free(file->path);
    *file = (AtomicFile){.fd = -1};
}
