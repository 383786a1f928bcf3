#include "base/file_lock.h"

#include "base/folder.h"
#include "base/log.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* A fixed array, because a signal handler reads it. */
static Held held[MOST];
static volatile sig_atomic_t n_held;
static pid_t owner; /* a forked child has a copy of the list, but no lock */

static bool is_held(const char *path)
{
    for (int i = 0; i < n_held && owner == getpid(); i++) {
        if (strcmp(held[i].path, path) == 0) return true;
    }
    return false;
}

/* ---- names ---- */

/* `name` is "" for the folder itself. */
static bool lock_path(char path[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s%s" ENDING, folder, *name ? "." : "", name) < PATH_MAX;
}

/* Of a file: its folder, without links, and its lock there. */
typedef struct Place {
    char folder[PATH_MAX], lock[PATH_MAX];
} Place;

/* False: there is no such folder, or a path is too long. */
static bool find_place(Place *place, const char *path)
{
    char real[PATH_MAX], folder[PATH_MAX];
    if (realpath(path, real)) path = real; /* the file that a writer would replace */
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return *name && folder_of(path, folder) && realpath(folder, place->folder) &&
           lock_path(place->lock, place->folder, name);
}

bool file_lock_is_same(const char *a, const char *b)
{
    Place one, two;
    if (strcmp(a, b) == 0) return true;
    return find_place(&one, a) && find_place(&two, b) && strcmp(one.lock, two.lock) == 0;
}

/* ---- who has it ---- */

typedef enum Holder { NOBODY, MYSELF, MY_PARENT, ANOTHER } Holder;

/* Does another process hold the lock? *pid is 0 where its number is unknown: it runs in another container or
 * on another machine. */
static bool held_by_other(int fd, pid_t *pid)
{
    struct flock probe = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &probe) != 0 || probe.l_type == F_UNLCK) return false;
    *pid = probe.l_pid > 0 ? probe.l_pid : 0;
    return true;
}

/* A file whose lock this process holds is not opened: closing any descriptor of it would end the lock. */
static Holder holder_of(const char *path, pid_t *pid)
{
    if (is_held(path)) return MYSELF;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return NOBODY;
    const bool has = held_by_other(fd, pid);
    close(fd);
    return !has ? NOBODY : *pid && *pid == getppid() ? MY_PARENT : ANOTHER;
}

static Status refuse(const char *path, bool is_folder, pid_t pid)
{
    char who[64] = "in another container or on another machine";
    if (pid) snprintf(who, sizeof who, "process %ld", (long)pid);
    return FAIL(
        ST_USAGE,
        "another roofstep (%s) is writing %s%s: wait until it has ended, or name another %s", who,
        is_folder ? "to the folder " : "", path, is_folder ? "folder" : "file");
}

/* Who holds the lock of this folder, or of one above it. */
static Status find_folder_holder(const char *folder, Holder *holder)
{
    char above[PATH_MAX], path[PATH_MAX];
    pid_t pid = 0;
    snprintf(above, sizeof above, "%s", folder);
    for (;;) {
        *holder = lock_path(path, above, "") ? holder_of(path, &pid) : NOBODY;
        if (*holder == ANOTHER) return refuse(above, true, pid);
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
        if (n <= ending || entry->d_name[0] != '.' || !text_ends_with(entry->d_name, ENDING))
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= PATH_MAX) continue;
        if (holder_of(path, &pid) != ANOTHER) continue;
        snprintf(name, sizeof name, "%s/%.*s", shown, (int)(n - ending - 1), entry->d_name + 1);
        status = refuse(name, false, pid);
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

/* fcntl(), because a forked child would inherit a lock of flock() or of the open file, and keep it. */
static Try try_once(const char *path, pid_t *pid)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open_lock(path);
    if (fd < 0) return IMPOSSIBLE;
    const int error = fcntl(fd, F_SETLK, &whole) == 0 ? 0 : errno;
    if (!error && is_in_place(fd, path)) {
        hold(path, fd);
        return TAKEN;
    }
    const bool possible = !error || error == EAGAIN || error == EACCES;
    const bool busy = error && possible && held_by_other(fd, pid);
    if (!possible) unlink(path);
    close(fd);
    errno = error;
    return !possible ? IMPOSSIBLE : busy ? BUSY : GONE;
}

/* Sets *taken. A folder that cannot be written has no locks and needs none. Signals are blocked, so that
 * none comes between a lock file and its entry in the list by which a signal handler removes it. */
static Status take(const char *lock, const char *folder, const char *shown, bool is_folder,
                   bool *taken)
{
    sigset_t all, before;
    pid_t pid = 0;
    Try result = GONE;
    if (n_held == MOST && owner == getpid())
        return FAIL(ST_FAILED, "more than %d files are locked at once", MOST);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < TRIES && result == GONE; i++) result = try_once(lock, &pid);
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    *taken = result == TAKEN;
    if (result == IMPOSSIBLE && error != EROFS && access(folder, W_OK | X_OK) == 0)
        warn(shown, error);
    return result == BUSY || result == GONE ? refuse(shown, is_folder, pid) : ST_OK;
}

/* Counted down last: a signal in between does it once more. */
static void release_last(void)
{
    const Held *last = &held[n_held - 1];
    if (is_in_place(last->fd, last->path)) unlink(last->path);
    close(last->fd);
    n_held--;
}

/* `holder` is whoever has the lock of the folder, or of one above it. */
static Status check(const Place *place, const char *path, Holder *holder)
{
    pid_t pid = 0;
    TRY(find_folder_holder(place->folder, holder));
    return holder_of(place->lock, &pid) == ANOTHER ? refuse(path, false, pid) : ST_OK;
}

Status file_lock_check(const char *path)
{
    Place place;
    Holder holder;
    return find_place(&place, path) ? check(&place, path, &holder) : ST_OK;
}

Status file_lock_take(const char *path)
{
    struct stat info;
    Place place;
    Holder holder;
    bool taken;
    const bool there = stat(path, &info) == 0;
    if (there ? !S_ISREG(info.st_mode) : errno != ENOENT) return ST_OK;
    if (!find_place(&place, path)) return ST_OK;
    TRY(check(&place, path, &holder));
    if (holder != NOBODY || is_held(place.lock)) return ST_OK;
    TRY(take(place.lock, place.folder, path, false, &taken));
    if (!taken) return ST_OK;
    /* Once more: the folder may have been taken before the file was. */
    const Status status = find_folder_holder(place.folder, &holder);
    if (status != ST_OK) release_last();
    return status;
}

Status file_lock_take_folder(const char *folder)
{
    char real[PATH_MAX], lock[PATH_MAX];
    Holder holder;
    bool taken;
    if (!realpath(folder, real) || !lock_path(lock, real, "")) return ST_OK;
    TRY(find_folder_holder(real, &holder));
    if (holder != NOBODY) return check_files_in(real, folder); /* taken before the one above was */
    TRY(take(lock, real, folder, true, &taken));
    if (!taken) return ST_OK;
    Status status = check_files_in(real, folder);
    /* A file that was locked at the same moment gives way to the folder: it takes a moment. */
    if (status != ST_OK) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        status = check_files_in(real, folder);
    }
    if (status != ST_OK) release_last();
    return status;
}

/* ---- the end ---- */

void file_lock_release_all(void)
{
    if (owner != getpid()) return;
    while (n_held > 0) release_last();
}
