#include "harness.h"

#include "cli/command.h"
#include "cli/output.h"

#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A reader that is refused memory is to say so, also where it asks for more than there can be.
 * Leaks are looked for by mutate_main.c, input by input: the sanitizer's own check takes seconds
 * each time. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=2048:detect_leaks=0:"
           "detect_stack_use_after_return=0";
}

void harness_fail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("harness: ", stderr);
    vfprintf(stderr, fmt, args);
    fputs("\n", stderr);
    va_end(args);
    abort();
}

/* ---- statuses ---- */

void harness_forget(void)
{
    (void)status_fail(ST_OK, "%s", "");
}

bool harness_taken(Status status, unsigned may)
{
    if (status == ST_OK) return true;
    const char *message = status_message();
    if (!(may >> status & 1)) harness_fail("refused with status %d: %s", (int)status, message);
    if (!*message) harness_fail("refused with status %d and without a message", (int)status);
    return false;
}

/* ---- files ---- */

static char folder[64];
static pid_t owner; /* a process that is forked from it shares its folder */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    return where->level > 0 ? remove(path) : 0;
}

void harness_clear(void)
{
    if (*folder) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    if (getpid() != owner) return;
    harness_clear();
    rmdir(folder);
}

/* In memory where there is such a place. */
const char *harness_folder(void)
{
    if (*folder) return folder;
    const char *place = getenv("TMPDIR");
    if (!place || strlen(place) > 40) place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/fuzz.XXXXXX", place);
    if (!mkdtemp(folder)) harness_fail("no folder %s", folder);
    owner = getpid();
    atexit(remove_folder);
    /* Limits and tables that are kept from one run to the next are looked for here too. */
    setenv("XDG_CACHE_HOME", folder, 1);
    json_object_seed(1); /* the same order at every run */
    return folder;
}

const char *harness_put(const char *name, const void *data, size_t n)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", harness_folder(), name);
    for (char *c = path + strlen(folder) + 1; *c; c++) {
        if (*c != '/') continue;
        *c = '\0';
        mkdir(path, 0700);
        *c = '/';
    }
    FILE *file = fopen(path, "we");
    if (!file) return path; /* a folder is in its place: the reader is to say so */
    if (n > 0 && fwrite(data, 1, n, file) != n) harness_fail("cannot write %s", path);
    fclose(file);
    return path;
}

/* Two marks are no name: a file would stand outside the folder. */
static void take_name(char name[128], const uint8_t *text, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n && used < 127; i++) {
        const char c = (char)text[i];
        const bool plain = c > ' ' && c < 127 && c != '\\' && !(c == '.' && used == 0);
        const bool repeats = used > 0 && name[used - 1] == c && (c == '.' || c == '/');
        if (plain && !repeats) name[used++] = c;
    }
    if (used > 0 && name[used - 1] == '/') used--;
    name[used] = '\0';
}

void harness_split(const uint8_t *data, size_t n, HarnessFile *each, void *self)
{
    enum { MOST = 64 };
    char name[128] = "";
    size_t at = 0;
    for (int files = 0; files < MOST && at < n; files++) {
        const uint8_t *mark = memmem(data + at, n - at, "@@ ", 3);
        const size_t end = mark ? (size_t)(mark - data) : n;
        if (end > at || *name) each(self, name, data + at, end - at);
        if (!mark) return;
        const uint8_t *line = memchr(mark, '\n', n - end);
        const size_t next = line ? (size_t)(line - data) + 1 : n;
        take_name(name, mark + 3, next - end - 3);
        at = next;
        if (at == n) each(self, name, data + at, 0);
    }
}

/* ---- commands ---- */

Status harness_command(const char *const *words)
{
    char *argv[32];
    int argc = 0, exit_code = 0;
    const Command *command;
    Settings settings;
    Sweep sweep;
    TRY(command_find(words[0], &command));
    for (; words[argc + 1] && argc < 31; argc++) argv[argc] = (char *)(uintptr_t)words[argc + 1];
    TRY(sweep_parse(&command->options, argc, argv, &settings, &sweep));
    settings.command_line = "roofstep";
    Status status = output_choose_format(&settings, &command->options);
    if (status == ST_OK) status = command->run(&settings, &sweep, &exit_code);
    sweep_free(&sweep);
    return status;
}
