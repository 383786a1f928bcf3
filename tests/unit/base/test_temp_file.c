/* What is being written when the program ends is not left behind, with files that have no name
 * until they are whole and, as on file systems without those, with files that have a temporary
 * one. */
#include "base/atomic_file.h"
#include "base/temp_file.h"
#include "with_cmocka.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a file system, and a policy, that can less ---- */

static bool nameless = true, links = true;

/* In the place of the C library's: what is asked of the kernel is the same. */
int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if ((flags & O_TMPFILE) == O_TMPFILE && !nameless) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    if (!links) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

/* ---- a folder ---- */

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", folder, name);
    return path[at];
}

static int make_folder(void **state)
{
    (void)state;
    nameless = links = true;
    snprintf(folder, sizeof folder, "/tmp/test_temp_file.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    if (!dir) return -1;
    for (const struct dirent *e; (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            (void)remove(in_folder(e->d_name));
    }
    closedir(dir);
    return rmdir(folder);
}

static int count(const char *ending)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));) {
        const size_t length = strlen(e->d_name), tail = strlen(ending);
        n +=
            e->d_name[0] != '.' && length >= tail && strcmp(e->d_name + length - tail, ending) == 0;
    }
    closedir(dir);
    return n;
}

static void holds(const char *path, const char *want)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fgets(text, sizeof text, file) || *want == '\0');
    fclose(file);
    assert_string_equal(text, want);
}

/* ---- a program that is ended ---- */

static int end_by(pid_t pid, int number)
{
    int status;
    kill(pid, number);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void open_two_and_wait(int ready)
{
    AtomicFile one, two;
    temp_file_clean_up_on_signals();
    const bool both = atomic_file_open(&one, in_folder("one")) == ST_OK &&
                      atomic_file_open(&two, in_folder("two")) == ST_OK;
    if (!both || write(ready, "x", 1) != 1) _exit(1);
    for (;;) pause();
}

/* Both, not the newest alone. */
static void a_signal_removes_all(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    (void)state;
    for (int i = 0; i < 6; i++) {
        int ready[2];
        char byte;
        nameless = i < 3;
        assert_int_equal(pipe(ready), 0);
        const pid_t pid = fork();
        if (pid == 0) open_two_and_wait(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        assert_int_equal(count(".tmp"), nameless ? 0 : 2);
        assert_int_equal(end_by(pid, signals[i % 3]), signals[i % 3]);
        assert_int_equal(count(""), 0);
        close(ready[0]);
        close(ready[1]);
    }
}

/* A cell's process has what its parent has open. */
static void a_child_removes_only_its_own(void **state)
{
    AtomicFile file;
    (void)state;
    nameless = false;
    assert_int_equal(atomic_file_open(&file, in_folder("a")), ST_OK);
    const pid_t pid = fork();
    if (pid == 0) {
        temp_file_clean_up_on_signals();
        raise(SIGTERM);
        _exit(0);
    }
    assert_int_equal(end_by(pid, 0), SIGTERM);
    assert_int_equal(count(".tmp"), 1);
    assert_int_equal(atomic_file_write(&file, "all", 3), ST_OK);
    assert_int_equal(atomic_file_finish(&file), ST_OK);
    holds(in_folder("a"), "all");
    assert_int_equal(count(""), 1);
}

static _Noreturn void write_again_and_again(void)
{
    temp_file_clean_up_on_signals();
    for (;;) {
        AtomicFile file;
        if (atomic_file_open(&file, in_folder("a")) != ST_OK ||
            atomic_file_write(&file, "all", 3) != ST_OK)
            _exit(1);
        if (atomic_file_finish(&file) != ST_OK) _exit(1);
    }
}

static void moments(bool has_nameless, int number, int most_left)
{
    nameless = has_nameless;
    for (int i = 0; i < 40; i++) {
        const pid_t pid = fork();
        if (pid == 0) write_again_and_again();
        const struct timespec moment = {.tv_nsec = 1000L * (500 + 97 * i)};
        nanosleep(&moment, NULL);
        assert_int_equal(end_by(pid, number), number);
        if (count("") > count(".tmp")) holds(in_folder("a"), "all");
    }
    assert_true(count(".tmp") <= most_left);
}

/* SIGKILL, too, finds no name to leave behind, but between two calls of the kernel; that is swept up. */
static void no_moment_leaves_a_file(void **state)
{
    (void)state;
    moments(true, SIGTERM, 0);
    moments(false, SIGTERM, 0);
    moments(false, SIGINT, 0);
    moments(false, SIGKILL, 40);
    moments(true, SIGKILL, 80);
    temp_file_remove_stale(folder);
    assert_int_equal(count(".tmp"), 0);
}

/* ---- files that killed processes left ---- */

static void touch(const char *name)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fclose(file);
}

static void only_stale_files_of_ours_are_removed(void **state)
{
    static const char *const strangers[] = {"notes.2024.10.tmp",
                                            "a.b1.c2.tmp",
                                            "x.123.0.tmp",
                                            "results.json.999999.1.tmp",
                                            ".roofstep-999999-1.tmp",
                                            "a.roofstep-1.tmp",
                                            "a.roofstep-x-1.tmp",
                                            "a.roofstep--1.tmp",
                                            "a.roofstep-999999-1.tmp.keep",
                                            "a.roofstep-999999-.tmp",
                                            "a.roofsteps-999999-1.tmp"};
    enum { STRANGERS = sizeof strangers / sizeof *strangers };
    (void)state;
    char own[64], live[64];
    const pid_t dead = fork();
    if (dead == 0) _exit(0);
    assert_int_equal(end_by(dead, 0), 0);
    const pid_t alive = fork();
    if (alive == 0) {
        FILE *name = fopen("/proc/self/comm", "w");
        if (name) fputs("roofstep", name);
        if (name) fclose(name);
        for (;;) pause();
    }
    for (int i = 0; i < STRANGERS; i++) touch(strangers[i]);
    snprintf(own, sizeof own, "a.json.roofstep-%ld-17.tmp", (long)dead);
    snprintf(live, sizeof live, "a.json.roofstep-%ld-0.tmp", (long)alive);
    touch(own);
    touch(live);
    const struct timespec while_it_is_named = {.tv_nsec = 50 * 1000 * 1000};
    nanosleep(&while_it_is_named, NULL);
    temp_file_remove_stale(folder);
    assert_int_not_equal(access(in_folder(own), F_OK), 0);
    assert_int_equal(access(in_folder(live), F_OK), 0);
    for (int i = 0; i < STRANGERS; i++) assert_int_equal(access(in_folder(strangers[i]), F_OK), 0);
    assert_int_equal(end_by(alive, SIGKILL), SIGKILL);
    temp_file_remove_stale(folder);
    assert_int_not_equal(access(in_folder(live), F_OK), 0);
    temp_file_remove_stale(in_folder("no-such-folder"));
}

/* A process of another machine, which writes beside it, looks dead from here. */
static void only_stale_files_of_one_name_are_removed(void **state)
{
    static const char *const others[] = {"b.json.roofstep-%ld-1.tmp", "a.json2.roofstep-%ld-1.tmp",
                                         "xa.json.roofstep-%ld-1.tmp", "a.jso.roofstep-%ld-1.tmp"};
    enum { OTHERS = sizeof others / sizeof *others };
    char names[OTHERS][64], own[64];
    (void)state;
    const pid_t dead = fork();
    if (dead == 0) _exit(0);
    assert_int_equal(end_by(dead, 0), 0);
    for (int i = 0; i < OTHERS; i++) {
        snprintf(names[i], sizeof names[i], others[i], (long)dead);
        touch(names[i]);
    }
    snprintf(own, sizeof own, "a.json.roofstep-%ld-17.tmp", (long)dead);
    touch(own);
    temp_file_remove_stale_of(in_folder("a.json"));
    assert_int_not_equal(access(in_folder(own), F_OK), 0);
    for (int i = 0; i < OTHERS; i++) assert_int_equal(access(in_folder(names[i]), F_OK), 0);

    touch(own);
    touch("a.json");
    assert_int_equal(symlink("a.json", in_folder("link")), 0);
    temp_file_remove_stale_of(in_folder("link"));
    assert_int_not_equal(access(in_folder(own), F_OK), 0);
    temp_file_remove_stale(folder);
    assert_int_equal(remove(in_folder("a.json")), 0);
    assert_int_equal(remove(in_folder("link")), 0);
    assert_int_equal(count(".tmp"), 0);
}

/* ---- the same file either way ---- */

static void replace_twice(const char *path)
{
    struct stat info;
    AtomicFile file;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(atomic_file_open(&file, path), ST_OK);
        assert_true(!file.device);
        assert_int_equal(atomic_file_write(&file, "xbc", 3), ST_OK);
        assert_int_equal(atomic_file_rewrite(&file, 0, "a", 1), ST_OK);
        if (i == 1) holds(path, "abc");
        assert_int_equal(atomic_file_finish(&file), ST_OK);
        holds(path, "abc");
        if (i == 0) assert_int_equal(chmod(path, 0604), 0);
    }
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0604);
    assert_int_equal(info.st_nlink, 1);
    assert_int_equal(count(".tmp"), 0);
    assert_int_equal(remove(path), 0);
}

static void files_are_the_same_either_way(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        nameless = way != 1;
        links = way != 2;
        replace_twice(in_folder("plain"));
        AtomicFile file;
        assert_int_equal(atomic_file_open(&file, in_folder("open")), ST_OK);
        assert_int_equal(atomic_file_write(&file, "one two", 7), ST_OK);
        assert_int_equal(atomic_file_finish(&file), ST_OK);
        holds(in_folder("open"), "one two");
        assert_int_equal(atomic_file_open(&file, in_folder("open")), ST_OK);
        atomic_file_abandon(&file);
        holds(in_folder("open"), "one two");
        assert_int_equal(count(""), 1);
    }
}

/* As long as a name may be: a mark behind it would be too long. */
static void long_names(void **state)
{
    char name[256] = "";
    AtomicFile file;
    (void)state;
    for (int i = 0; i < 85; i++) strcat(name, "\xe2\x82\xac"); /* three bytes each */
    for (int way = 0; way < 2; way++) {
        nameless = way == 0;
        replace_twice(in_folder(name));
    }
    name[0] = '\0';
    for (int i = 0; i < 255; i++) strcat(name, "x");
    char longer[400];
    snprintf(longer, sizeof longer, "%s/%sx", folder, name);
    assert_int_equal(atomic_file_open(&file, longer), ST_IO);
    assert_non_null(strstr(status_message(), "too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_signal_removes_all, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_child_removes_only_its_own, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(no_moment_leaves_a_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(only_stale_files_of_ours_are_removed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(only_stale_files_of_one_name_are_removed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(files_are_the_same_either_way, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(long_names, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
