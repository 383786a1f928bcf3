#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Status failure(const char *path, const char *what)
{
    return FAIL(ST_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

/* ---- what a signal must not leave behind ---- */

static char unfinished[PATH_MAX]; /* the newest temporary file; "" when there is none */

static void remove_unfinished(int signal)
{
    if (unfinished[0]) unlink(unfinished);
    raise(signal); /* SA_RESETHAND: what it does by default */
}

void whole_file_clean_up_on_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = {.sa_handler = remove_unfinished,
                                   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
        struct sigaction before;
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], NULL, &before);
        /* nohup and a shell's background jobs ignore some of them; that stays so. */
        if (before.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* beyond `ulimit -f` a write fails then, and can be told */
}

static void remember(const char *temporary)
{
    snprintf(unfinished, sizeof unfinished, "%s", temporary ? temporary : "");
}

/* ---- opening ---- */

static Status open_beside(WholeFile *file)
{
    for (int i = 0; i < 100; i++) {
        free(file->temporary);
        if (asprintf(&file->temporary, "%s.%ld.%d.tmp", file->path, (long)getpid(), i) < 0) {
            file->temporary = NULL;
            return FAIL(ST_NO_MEMORY, "no memory for a file name");
        }
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->fd >= 0) {
            remember(file->temporary);
            return ST_OK;
        }
        if (errno != EEXIST) break;
    }
    const Status status = failure(file->path, "create");
    free(file->temporary); /* not ours to remove */
    file->temporary = NULL;
    return status;
}

/* `old` is the file that is replaced, NULL when there is none. */
static Status open_replacement(WholeFile *file, const char *path, const struct stat *old)
{
    char real[PATH_MAX]; /* a link stays a link */
    file->path = strdup(old && realpath(path, real) ? real : path);
    if (!file->path) return FAIL(ST_NO_MEMORY, "no memory for a file name");
    TRY(open_beside(file));
    if (old) (void)!fchmod(file->fd, old->st_mode & 07777);
    return ST_OK;
}

/* A terminal, a pipe, /dev/null: nothing can take its place, so it is written as it is. */
static Status open_device(WholeFile *file, const char *path)
{
    file->path = strdup(path);
    if (!file->path) return FAIL(ST_NO_MEMORY, "no memory for a file name");
    file->fd = open(path, O_WRONLY | O_CLOEXEC);
    return file->fd >= 0 ? ST_OK : failure(path, "write");
}

Status whole_file_open(WholeFile *file, const char *path)
{
    struct stat old;
    *file = (WholeFile){.fd = -1};
    if (*path == 0) return FAIL(ST_IO, "a file needs a name");
    const bool there = stat(path, &old) == 0;
    if (there && S_ISDIR(old.st_mode))
        return FAIL(ST_IO, "cannot write %s: it is a directory", path);
    const Status status = there && !S_ISREG(old.st_mode)
                              ? open_device(file, path)
                              : open_replacement(file, path, there ? &old : NULL);
    if (status != ST_OK) whole_file_abandon(file);
    return status;
}

/* ---- writing ---- */

Status whole_file_write(WholeFile *file, const void *data, size_t n)
{
    const char *at = data;
    while (n > 0) {
        const ssize_t written = write(file->fd, at, n);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failure(file->path, "write");
        at += written;
        n -= (size_t)written;
    }
    return ST_OK;
}

bool whole_file_can_rewrite(const WholeFile *file)
{
    return file->temporary != NULL;
}

Status whole_file_rewrite(WholeFile *file, size_t offset, const void *data, size_t n)
{
    const char *at = data;
    while (n > 0) {
        const ssize_t written = pwrite(file->fd, at, n, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failure(file->path, "write");
        at += written;
        offset += (size_t)written;
        n -= (size_t)written;
    }
    return ST_OK;
}

/* ---- finishing ---- */

/* A rename lasts only once the directory is on disk too. Some file systems refuse to sync one: the
 * data are written by then, so that is no failure. */
static void sync_directory(const char *path)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n >= sizeof directory) return;
    memcpy(directory, n ? path : ".", n ? n : 1);
    directory[n ? n : 1] = 0;
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

static Status sync_written(const WholeFile *file)
{
    const bool synced = !file->temporary || fsync(file->fd) == 0 || errno == EINVAL;
    return synced ? ST_OK : failure(file->path, "write");
}

static Status close_written(WholeFile *file)
{
    const Status status = sync_written(file);
    const int closed = close(file->fd);
    file->fd = -1;
    return closed != 0 && status == ST_OK ? failure(file->path, "write") : status;
}

static Status put_in_place(WholeFile *file)
{
    if (!file->temporary) return ST_OK;
    if (rename(file->temporary, file->path) != 0) return failure(file->path, "replace");
    sync_directory(file->path);
    free(file->temporary);
    file->temporary = NULL;
    return ST_OK;
}

Status whole_file_finish(WholeFile *file)
{
    Status status = close_written(file);
    if (status == ST_OK) status = put_in_place(file);
    whole_file_abandon(file);
    return status;
}

Status whole_file_finish_open(WholeFile *file, int *fd)
{
    Status status = sync_written(file);
    if (status == ST_OK) status = put_in_place(file);
    if (status == ST_OK) {
        *fd = file->fd;
        file->fd = -1;
    }
    whole_file_abandon(file);
    return status;
}

void whole_file_abandon(WholeFile *file)
{
    if (file->fd >= 0) close(file->fd);
    if (file->temporary) unlink(file->temporary);
    remember(NULL);
    free(file->temporary);
    free(file->path);
    *file = (WholeFile){.fd = -1};
}
