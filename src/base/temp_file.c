#include "base/temp_file.h"

#include "base/file_lock.h"
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[] = ".roofstep-", ending[] = ".tmp";
enum { TRIES = 100, LONGEST_NAME = 200 }; /* bytes of a name before the mark; NAME_MAX is 255 */

/* ---- what a signal must not leave behind ---- */

struct TempFile {
    TempFile *next;
    pid_t owner; /* a child has a copy of the list, and must not remove what its parent writes */
    char path[];
};

static TempFile *list; /* changed only while signals are blocked */

/* Blocked until the scope of the returned set ends: CLEANUP(unblock_signals). */
static sigset_t block_signals(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    return before;
}

/* errno is what it was before. */
static void unblock_signals(const sigset_t *before)
{
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

static void remove_all(int signal)
{
    const pid_t self = getpid();
    for (const TempFile *u = list; u; u = u->next) {
        if (u->owner == self) unlink(u->path);
    }
    file_lock_release_all();
    raise(signal); /* SA_RESETHAND: what it does by default */
}

void temp_file_clean_up_on_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action = {.sa_handler = remove_all,
                                   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
        struct sigaction before;
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], NULL, &before);
        /* nohup and a shell's background jobs ignore some of them; that stays so. */
        if (before.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* beyond `ulimit -f` a write fails then, and can be told */
}

static void forget(TempFile *unfinished)
{
    for (TempFile **at = &list; *at; at = &(*at)->next) {
        if (*at != unfinished) continue;
        *at = unfinished->next;
        break;
    }
    free(unfinished);
}

/* ---- names ---- */

/* Of a long name only the beginning, whole characters of it: the mark must fit behind it. */
static size_t beginning(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > LONGEST_NAME) {
        n = LONGEST_NAME;
        while (n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80) n--;
    }
    return (size_t)(name - path) + n;
}

static TempFile *new_name(const char *path)
{
    static unsigned count;
    const size_t n = beginning(path), size = n + sizeof mark + sizeof ending + 32;
    TempFile *u = malloc(sizeof *u + size);
    if (!u) return NULL;
    *u = (TempFile){.owner = getpid()};
    snprintf(u->path, size, "%.*s%s%ld-%u%s", (int)n, path, mark, (long)u->owner, count++, ending);
    return u;
}

/* Gives a new file a name that none has: `make` returns 0 or more, or -1 and errno. From its first
 * moment a signal removes it. Signals are blocked. */
static TempFile *make_named(const char *path, int (*make)(const char *name, int fd), int fd,
                            int *made)
{
    for (int i = 0; i < TRIES; i++) {
        TempFile *u = new_name(path);
        if (!u) return NULL;
        *made = make(u->path, fd);
        if (*made >= 0) {
            u->next = list;
            list = u;
            return u;
        }
        const int error = errno;
        free(u); /* not ours to remove */
        errno = error;
        if (error != EEXIST) return NULL;
    }
    return NULL;
}

static int create(const char *name, int none)
{
    (void)none;
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int link_to(const char *name, int fd)
{
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* ---- files with a name ---- */

TempFile *temp_file_create(const char *path, int *fd)
{
    CLEANUP(unblock_signals) const sigset_t before = block_signals();
    return make_named(path, create, -1, fd);
}

const char *temp_file_path(const TempFile *unfinished)
{
    return unfinished->path;
}

bool temp_file_put(TempFile *unfinished, const char *path)
{
    CLEANUP(unblock_signals) const sigset_t before = block_signals();
    if (rename(unfinished->path, path) != 0) return false;
    forget(unfinished);
    return true;
}

void temp_file_remove(TempFile *unfinished)
{
    if (!unfinished) return;
    CLEANUP(unblock_signals) const sigset_t before = block_signals();
    const int error = errno;
    unlink(unfinished->path);
    forget(unfinished);
    errno = error;
}

/* ---- files without a name ---- */

/* linkat() replaces nothing: where the name is taken, the file gets a temporary name and is renamed. */
bool temp_file_name(int fd, const char *path)
{
    CLEANUP(unblock_signals) const sigset_t before = block_signals();
    int made;
    if (link_to(path, fd) == 0) return true;
    if (errno != EEXIST) return false;
    TempFile *u = make_named(path, link_to, fd, &made);
    if (!u) return false;
    if (temp_file_put(u, path)) return true;
    temp_file_remove(u);
    return false;
}

/* ---- files that killed processes left ---- */

/* The PID in NAME.roofstep-PID-N.tmp; 0: it is no such name. */
static pid_t owner_of(const char *name)
{
    char pid[10];
    int end = 0;
    const char *last = NULL;
    for (const char *at = name; (at = strstr(at + 1, mark));) last = at;
    if (!last || sscanf(last, ".roofstep-%9[0-9]-%*[0-9].tmp%n", pid, &end) != 1) return 0;
    return end > 0 && !last[end] ? (pid_t)strtol(pid, NULL, 10) : 0;
}

/* Whether a live roofstep has this number. Another program may have the number of one that was
 * killed, and so may this process, which writes nothing yet. */
static bool is_writing(pid_t pid)
{
    char path[48], name[32] = "";
    if (pid == getpid() || (kill(pid, 0) != 0 && errno == ESRCH)) return false;
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file) return true;
    const bool read = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    return !read || strcmp(name, "roofstep\n") == 0;
}

/* Whether the file was to become the one whose name begins so. */
static bool is_of(const char *entry, const char *name, size_t n)
{
    return strncmp(entry, name, n) == 0 && strncmp(entry + n, mark, sizeof mark - 1) == 0;
}

/* `name` is NULL for all. */
static void remove_stale(const char *folder, const char *name, size_t n)
{
    DIR *dir = opendir(folder);
    struct stat info;
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        const pid_t owner = owner_of(entry->d_name);
        if (owner == 0 || (name && !is_of(entry->d_name, name, n)) || is_writing(owner)) continue;
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode))
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir) closedir(dir);
}

void temp_file_remove_stale(const char *folder)
{
    remove_stale(folder, NULL, 0);
}

void temp_file_remove_stale_of(const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX];
    if (realpath(path, real)) path = real; /* beside what a link leads to */
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (folder_of(path, folder))
        remove_stale(folder, name, beginning(path) - (size_t)(name - path));
}
