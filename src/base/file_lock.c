#include "base/file_lock.h"

#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ENDING ".roofstep.lock" /* the whole name in a folder that is locked */

enum { MOST = 16, TRIES = 100 };

typedef struct Held {
    char path[PATH_MAX];
    int fd;
} Held;

/* Fixed: a handler of signals reads them. */
static Held held[MOST];
static volatile sig_atomic_t n_held;
static pid_t owner; /* a process that is forked from it has the list, but no lock */

static bool is_held(const char *path)
{
    for (int i = 0; i < n_held && owner == getpid(); i++) {
        if (strcmp(held[i].path, path) == 0) return true;
    }
    return false;
}

/* ---- names ---- */

/* The folder, without links, and the name in it that a writer would replace. */
typedef struct Place {
    char folder[PATH_MAX];
    const char *name; /* in `path` */
    char path[PATH_MAX];
} Place;

/* False: there is no such folder, or a path is too long. */
static bool find_place(Place *place, const char *path)
{
    struct stat info;
    const bool there = stat(path, &info) == 0 && realpath(path, place->path);
    if (!there && snprintf(place->path, PATH_MAX, "%s", path) >= PATH_MAX) return false;
    char *slash = strrchr(place->path, '/');
    place->name = slash ? slash + 1 : place->path;
    if (slash) *slash = '\0';
    const char *folder = !slash ? "." : slash == place->path ? "/" : place->path;
    return *place->name && realpath(folder, place->folder);
}

/* `name` is "" for the folder itself. */
static bool lock_path(char path[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s%s" ENDING, folder, *name ? "." : "", name) < PATH_MAX;
}

bool file_lock_is_same(const char *a, const char *b)
{
    Place one, two;
    if (strcmp(a, b) == 0) return true;
    return find_place(&one, a) && find_place(&two, b) && strcmp(one.name, two.name) == 0 &&
           strcmp(one.folder, two.folder) == 0;
}

/* ---- who has it ---- */

typedef enum Holder { NOBODY, MYSELF, MY_PARENT, ANOTHER } Holder;

/* `*pid` is 0 where the other cannot be seen: in another container, on another machine. */
static bool ask(int fd, pid_t *pid)
{
    struct flock probe = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &probe) != 0 || probe.l_type == F_UNLCK) return false;
    *pid = probe.l_pid > 0 ? probe.l_pid : 0;
    return true;
}

/* Closing any descriptor of a file ends this process's lock on it: those that are held are not
 * opened again. */
static Holder holder_of(const char *path, pid_t *pid)
{
    if (is_held(path)) return MYSELF;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return NOBODY;
    const bool has = ask(fd, pid);
    close(fd);
    return !has ? NOBODY : *pid && *pid == getppid() ? MY_PARENT : ANOTHER;
}

/* " (process 123)" */
typedef struct Name {
    char s[64];
} Name;

static Name name_of(pid_t pid)
{
    Name name;
    if (pid) snprintf(name.s, sizeof name.s, " (process %ld)", (long)pid);
    if (!pid) snprintf(name.s, sizeof name.s, " (in another container or on another machine)");
    return name;
}

static Status refuse_file(const char *path, pid_t pid)
{
    return FAIL(ST_USAGE,
                "another roofstep%s is writing %s: wait until it has ended, or name another file",
                name_of(pid).s, path);
}

static Status refuse_folder(const char *folder, pid_t pid)
{
    return FAIL(ST_USAGE,
                "another roofstep%s is writing to the folder %s: wait until it has ended, or name "
                "another folder",
                name_of(pid).s, folder);
}

/* Who writes everything in this folder, or in one that it is in. */
static Status find_folder_holder(const char *folder, Holder *holder)
{
    char above[PATH_MAX], path[PATH_MAX];
    pid_t pid = 0;
    snprintf(above, sizeof above, "%s", folder);
    for (;;) {
        *holder = lock_path(path, above, "") ? holder_of(path, &pid) : NOBODY;
        if (*holder == ANOTHER) return refuse_folder(above, pid);
        char *slash = strrchr(above, '/');
        if (*holder != NOBODY || !slash || !above[1]) return ST_OK;
        slash[slash == above] = '\0'; /* "/a/b" -> "/a" -> "/" */
    }
}

/* Whether a file in the folder has a lock of another process. */
static Status check_files_in(const char *folder, const char *shown)
{
    static const size_t ending = sizeof ENDING - 1;
    char path[PATH_MAX], name[2 * PATH_MAX];
    Status status = ST_OK;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; status == ST_OK && dir && (entry = readdir(dir));) {
        const size_t n = strlen(entry->d_name);
        pid_t pid = 0;
        if (n <= ending || entry->d_name[0] != '.') continue;
        if (strcmp(entry->d_name + n - ending, ENDING) != 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= PATH_MAX) continue;
        if (holder_of(path, &pid) != ANOTHER) continue;
        snprintf(name, sizeof name, "%s/%.*s", shown, (int)(n - ending - 1), entry->d_name + 1);
        status = refuse_file(name, pid);
    }
    if (dir) closedir(dir);
    return status;
}

/* ---- taking ---- */

static void warn(const char *shown, int error)
{
    static bool warned;
    if (!warned)
        log_warning("%s cannot be locked (%s): see that no other roofstep writes it meanwhile",
                    shown, strerror(error));
    warned = true;
}

/* Above the standard three, should one of them be closed. */
static int open_lock(const char *path)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int up = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return up;
}

/* False when the last holder has removed the file between open() and fcntl(). */
static bool is_in_place(int fd, const char *path)
{
    struct stat own, named;
    return fstat(fd, &own) == 0 && lstat(path, &named) == 0 && own.st_dev == named.st_dev &&
           own.st_ino == named.st_ino;
}

static void hold(const char *path, int fd)
{
    if (owner != getpid()) n_held = 0;
    owner = getpid();
    snprintf(held[n_held].path, PATH_MAX, "%s", path);
    held[n_held].fd = fd;
    n_held++;
}

typedef enum Try { TAKEN, BUSY, GONE, IMPOSSIBLE } Try;

/* Not flock(), nor a lock of the open file: a process that is forked would have it, too, and keep it. */
static Try try_once(const char *path, pid_t *pid)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open_lock(path);
    if (fd < 0) return IMPOSSIBLE;
    Try result = TAKEN;
    if (fcntl(fd, F_SETLK, &whole) != 0) {
        const int error = errno;
        const bool busy = error == EAGAIN || error == EACCES;
        result = !busy ? IMPOSSIBLE : ask(fd, pid) ? BUSY : GONE;
        if (!busy) unlink(path);
        errno = error;
    } else if (!is_in_place(fd, path)) {
        result = GONE;
    }
    if (result == TAKEN) {
        hold(path, fd);
    } else {
        const int error = errno;
        close(fd);
        errno = error;
    }
    return result;
}

/* What cannot be written has no lock and needs none. */
static void tell_impossible(const char *folder, const char *shown)
{
    const int error = errno;
    if (error != EROFS && access(folder, W_OK | X_OK) == 0) warn(shown, error);
}

/* *result is TAKEN, BUSY or IMPOSSIBLE. No signal comes between a file and the list it is removed by. */
static Status take(const char *path, pid_t *pid, Try *result)
{
    sigset_t all, before;
    *result = GONE;
    if (n_held == MOST && owner == getpid())
        return FAIL(ST_FAILED, "more than %d files are locked at once", MOST);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < TRIES && *result == GONE; i++) *result = try_once(path, pid);
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    if (*result == GONE) *result = BUSY;
    return ST_OK;
}

/* Counted down last: a signal in between does it once more. */
static void release_last(void)
{
    const Held *last = &held[n_held - 1];
    if (is_in_place(last->fd, last->path)) unlink(last->path);
    close(last->fd);
    n_held--;
}

static Status give_back(Status status)
{
    release_last();
    return status;
}

Status file_lock_take(const char *path)
{
    struct stat info;
    Place place;
    Holder holder;
    Try result;
    char lock[PATH_MAX];
    pid_t pid = 0;
    const bool there = stat(path, &info) == 0;
    if (there ? !S_ISREG(info.st_mode) : errno != ENOENT) return ST_OK;
    if (!find_place(&place, path) || !lock_path(lock, place.folder, place.name)) return ST_OK;
    TRY(find_folder_holder(place.folder, &holder));
    if (holder != NOBODY) return holder_of(lock, &pid) == ANOTHER ? refuse_file(path, pid) : ST_OK;
    if (is_held(lock)) return ST_OK;
    TRY(take(lock, &pid, &result));
    if (result == BUSY) return refuse_file(path, pid);
    if (result == IMPOSSIBLE) tell_impossible(place.folder, path);
    if (result != TAKEN) return ST_OK;
    /* Once more: the folder may have been taken before the file was. */
    const Status status = find_folder_holder(place.folder, &holder);
    return status == ST_OK ? ST_OK : give_back(status);
}

Status file_lock_take_folder(const char *folder)
{
    char real[PATH_MAX], lock[PATH_MAX];
    Holder holder;
    Try result;
    pid_t pid = 0;
    if (!realpath(folder, real) || !lock_path(lock, real, "")) return ST_OK;
    TRY(find_folder_holder(real, &holder));
    if (holder != NOBODY) return check_files_in(real, folder); /* taken before the one above was */
    TRY(take(lock, &pid, &result));
    if (result == BUSY) return refuse_folder(folder, pid);
    if (result == IMPOSSIBLE) tell_impossible(real, folder);
    if (result != TAKEN) return ST_OK;
    Status status = check_files_in(real, folder);
    /* A file that was locked at the same moment gives way to the folder: it takes a moment. */
    if (status != ST_OK) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        status = check_files_in(real, folder);
    }
    return status == ST_OK ? ST_OK : give_back(status);
}

Status file_lock_check(const char *path)
{
    Place place;
    Holder holder;
    char lock[PATH_MAX];
    pid_t pid = 0;
    if (!find_place(&place, path) || !lock_path(lock, place.folder, place.name)) return ST_OK;
    TRY(find_folder_holder(place.folder, &holder));
    return holder_of(lock, &pid) == ANOTHER ? refuse_file(path, pid) : ST_OK;
}

/* ---- the end ---- */

void file_lock_release_all(void)
{
    if (owner != getpid()) return;
    while (n_held > 0) release_last();
}
