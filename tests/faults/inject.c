/* Preloaded into the program under test: makes one call fail, or every call from one on.
 *
 *   FAULTS_CALLS  which calls are counted: write,fsync,rename,open,ftruncate,close,mkdir (of files only)
 *                 or malloc
 *   FAULTS_AT     which of them fails, 1 being the first after main() began
 *   FAULTS_FROM   1: those after it fail too
 *   FAULTS_HOW    ENOSPC, EIO, EDQUOT, EINTR, ENOMEM, short (half of a write is done), or a signal: KILL,
 *                 TERM, INT, HUP
 *   FAULTS_TRACE  1: the callers of what fails are printed to stderr, for addr2line
 *   FAULTS_STATE  a file of a page that all processes count in: calls seen, calls failed, and the name of
 *                 the last that failed
 *
 * What stdio writes by itself is not seen: the program writes its files with write(). */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

typedef struct State {
    _Atomic uint64_t seen, failed;
    char last[512];
} State;

static State *state; /* NULL: nothing is counted */
static const char *calls;
static uint64_t at;
static bool from, armed;
static int error, number; /* a signal's number */
static bool by_half, traced;

#define NEXT(name)                 \
    static __typeof__(name) *real; \
    if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, #name)

/* ---- what is asked for ---- */

static bool counted(const char *call)
{
    const char *place = calls ? strstr(calls, call) : NULL;
    const size_t n = strlen(call);
    return place && (place == calls || place[-1] == ',') && (place[n] == ',' || place[n] == 0);
}

static void choose_how(const char *how)
{
    static const struct {
        const char *name;
        int error, signal;
    } known[] = {{"ENOSPC", ENOSPC, 0}, {"EIO", EIO, 0},       {"EDQUOT", EDQUOT, 0},
                 {"EINTR", EINTR, 0},   {"ENOMEM", ENOMEM, 0}, {"KILL", 0, SIGKILL},
                 {"TERM", 0, SIGTERM},  {"INT", 0, SIGINT},    {"HUP", 0, SIGHUP}};
    by_half = strcmp(how, "short") == 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(how, known[i].name) != 0) continue;
        error = known[i].error;
        number = known[i].signal;
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULTS_STATE");
    const char *which = getenv("FAULTS_AT"), *how = getenv("FAULTS_HOW");
    if (!path || !which || !how) return;
    NEXT(open);
    const int fd = real(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *page = mmap(NULL, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED) state = page;
    calls = getenv("FAULTS_CALLS");
    at = strtoull(which, NULL, 10);
    from = getenv("FAULTS_FROM") && *getenv("FAULTS_FROM") == '1';
    choose_how(how);
    traced = getenv("FAULTS_TRACE") != NULL;
    void *frame;
    if (traced) backtrace(&frame, 1); /* it loads a library the first time */
}

/* Libraries get ready undisturbed: what is tried is the program. */
static int (*program)(int, char **, char **);
static int armed_main(int argc, char **argv, char **environment)
{
    armed = true;
    return program(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    typedef int Start(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                      void (*)(void), void *);
    Start *real;
    *(void **)(&real) = dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return real(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- whether this call fails ---- */

static bool fails(const char *call, const char *object)
{
    if (!state || !armed || !counted(call)) return false;
    const uint64_t place = atomic_fetch_add(&state->seen, 1) + 1;
    if (place != at && !(from && place > at)) return false;
    atomic_fetch_add(&state->failed, 1);
    size_t n = strlen(call), m = strlen(object); /* no snprintf: it may allocate */
    if (m > sizeof state->last - 64) m = sizeof state->last - 64;
    memcpy(state->last, call, n);
    state->last[n] = ' ';
    memcpy(state->last + n + 1, object, m);
    state->last[n + 1 + m] = 0;
    if (traced) {
        void *frames[24];
        backtrace_symbols_fd(frames, backtrace(frames, 24), STDERR_FILENO);
    }
    if (number) kill(getpid(), number);
    if (error) errno = error;
    return error != 0;
}

/* A file on a disk that is open for writing; not a pipe, not a terminal, nothing of /proc. */
static bool is_file(int fd)
{
    struct stat info;
    struct statfs disk;
    if (!state || !armed) return false;
    const int kept = errno;
    const bool is = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && fstatfs(fd, &disk) == 0 &&
                    disk.f_type != PROC_SUPER_MAGIC && disk.f_type != SYSFS_MAGIC &&
                    disk.f_type != CGROUP2_SUPER_MAGIC &&
                    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
    errno = kept;
    return is;
}

static bool half_of(const char *call, size_t n)
{
    if (!by_half || n < 2) return false;
    const uint64_t before = atomic_load(&state->failed);
    (void)fails(call, "short");
    return atomic_load(&state->failed) != before;
}

/* ---- files ---- */

ssize_t write(int fd, const void *data, size_t n)
{
    NEXT(write);
    if (!is_file(fd)) return real(fd, data, n);
    if (by_half) return real(fd, data, half_of("write", n) ? n / 2 : n);
    return fails("write", "") ? -1 : real(fd, data, n);
}

#define PWRITE(name)                                                                 \
    ssize_t name(int fd, const void *data, size_t n, off_t offset)                   \
    {                                                                                \
        NEXT(name);                                                                  \
        if (!is_file(fd)) return real(fd, data, n, offset);                          \
        if (by_half) return real(fd, data, half_of("write", n) ? n / 2 : n, offset); \
        return fails("write", "") ? -1 : real(fd, data, n, offset);                  \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define ON_FD(name, call, parameters, ...)             \
    int name parameters                                \
    {                                                  \
        NEXT(name);                                    \
        if (is_file(fd) && fails(call, "")) return -1; \
        return real(__VA_ARGS__);                      \
    }
ON_FD(fsync, "fsync", (int fd), fd)
ON_FD(fdatasync, "fsync", (int fd), fd)
ON_FD(ftruncate, "ftruncate", (int fd, off_t size), fd, size)
ON_FD(ftruncate64, "ftruncate", (int fd, off_t size), fd, size)

/* A descriptor is gone even when close() fails. */
int close(int fd)
{
    NEXT(close);
    const bool file = is_file(fd);
    const int closed = real(fd);
    return file && fails("close", "") ? -1 : closed;
}

int rename(const char *old, const char *new)
{
    NEXT(rename);
    return fails("rename", new) ? -1 : real(old, new);
}

int linkat(int from_fd, const char *old, int to_fd, const char *new, int flags)
{
    NEXT(linkat);
    return fails("rename", new) ? -1 : real(from_fd, old, to_fd, new, flags);
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir);
    return fails("mkdir", path) ? -1 : real(path, mode);
}

static bool makes(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name, parameters, path, ...)       \
    int name parameters                         \
    {                                           \
        mode_t mode = 0;                        \
        NEXT(name);                             \
        if (makes(flags)) {                     \
            va_list more;                       \
            va_start(more, flags);              \
            mode = va_arg(more, mode_t);        \
            va_end(more);                       \
            if (fails("open", path)) return -1; \
        }                                       \
        return real(__VA_ARGS__, mode);         \
    }
OPEN(open, (const char *path, int flags, ...), path, path, flags)
OPEN(open64, (const char *path, int flags, ...), path, path, flags)
OPEN(openat, (int fd, const char *path, int flags, ...), path, fd, path, flags)
OPEN(openat64, (int fd, const char *path, int flags, ...), path, fd, path, flags)

/* ---- memory ---- */

#ifndef FAULTS_NO_MALLOC /* a sanitizer has an allocator of its own */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t n)
{
    return fails("malloc", "") ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails("malloc", "") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
    return fails("malloc", "") ? NULL : __libc_realloc(old, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return fails("malloc", "") ? NULL : __libc_memalign(alignment, n);
}

int posix_memalign(void **out, size_t alignment, size_t n)
{
    const int kept = errno;
    if (fails("malloc", "")) {
        errno = kept;
        return ENOMEM;
    }
    *out = __libc_memalign(alignment, n);
    return *out ? 0 : ENOMEM;
}
#endif
