#include "base/file_lock.h"
#include "base/temp_file.h"
#include "with_cmocka.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/roofstep-test-XXXXXX";

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* ---- processes ---- */

/* A process that takes a lock, says so, and waits for its end. */
typedef Status Take(const char *path);

static _Noreturn void take_and_wait(Take *take, const char *path, int says)
{
    const char said = take(path) == ST_OK ? 'y' : 'n';
    if (write(says, &said, 1) != 1) _exit(1);
    for (;;) pause();
}

static pid_t hold(Take *take, const char *path)
{
    int ends[2];
    char said = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) take_and_wait(take, path, ends[1]);
    assert_int_equal(read(ends[0], &said, 1), 1);
    assert_int_equal(said, 'y');
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void stop(pid_t pid, int with)
{
    kill(pid, with);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void is_refused(Status status, const char *name, pid_t by)
{
    char process[40];
    snprintf(process, sizeof process, "(process %ld)", (long)by);
    assert_int_equal(status, ST_USAGE);
    assert_non_null(strstr(status_message(), name));
    assert_non_null(strstr(status_message(), process));
    assert_null(strchr(status_message(), '\n'));
}

static int files_in(const char *name)
{
    int n = 0;
    DIR *dir = opendir(name);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

/* ---- one file ---- */

static void the_second_is_refused_before_the_file_is_there(void **state)
{
    (void)state;
    const pid_t first = hold(file_lock_take, "new.json");
    assert_int_not_equal(access("new.json", F_OK), 0);
    is_refused(file_lock_take("new.json"), "new.json", first);
    is_refused(file_lock_check("new.json"), "new.json", first);
    assert_int_equal(file_lock_take("other.json"), ST_OK);
    stop(first, SIGKILL); /* what it leaves need not be removed by hand */
    assert_int_equal(file_lock_check("new.json"), ST_OK);
    assert_int_equal(file_lock_take("new.json"), ST_OK);
    assert_int_equal(file_lock_take("./new.json"), ST_OK); /* it is ours */
    file_lock_release_all();
    assert_int_equal(files_in("."), 0);
}

/* Through links, other spellings, and names of files that are not there. */
static void a_file_is_one_however_it_is_spelled(void **state)
{
    char whole[PATH_MAX];
    (void)state;
    snprintf(whole, sizeof whole, "%s/x.json", folder);
    const char *const names[] = {"./x.json", ".//x.json", "deep/../x.json", whole, "there/x.json"};
    assert_int_equal(mkdir("deep", 0777), 0);
    assert_int_equal(symlink(".", "there"), 0);
    for (int is_there = 0; is_there < 2; is_there++) {
        if (is_there) close(open("x.json", O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
        const pid_t first = hold(file_lock_take, "x.json");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            is_refused(file_lock_take(names[i]), names[i], first);
            assert_true(file_lock_is_same("x.json", names[i]));
        }
        if (is_there) assert_int_equal(symlink("../x.json", "deep/link.json"), 0);
        if (is_there) is_refused(file_lock_take("deep/link.json"), "deep/link.json", first);
        stop(first, SIGKILL);
    }
    assert_false(file_lock_is_same("x.json", "y.json"));
    assert_false(file_lock_is_same("x.json", "deep/x.json"));
    assert_int_equal(system("rm -r deep there x.json .x.json.roofstep.lock"), 0);
}

static void devices_and_places_that_are_not_there_have_none(void **state)
{
    static const char *const names[] = {"/dev/null", "/dev/stdout", "nowhere/x", "", ".", "x/"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(file_lock_take(names[i]), ST_OK);
    assert_int_not_equal(access("/dev/.null.roofstep.lock", F_OK), 0);
    file_lock_release_all();
    assert_int_equal(files_in("."), 0);
}

/* Each that has it is alone with it, though every one removes the file and the others make it anew. */
static _Noreturn void take_turns(volatile int *inside)
{
    int had = 0;
    for (int i = 0; i < 20000 && had < 100; i++) {
        if (file_lock_take("turn") != ST_OK) continue;
        if (__atomic_add_fetch(inside, 1, __ATOMIC_SEQ_CST) != 1) _exit(1);
        had++;
        __atomic_sub_fetch(inside, 1, __ATOMIC_SEQ_CST);
        file_lock_release_all();
    }
    _exit(had > 0 ? 0 : 2);
}

static void only_one_has_it(void **state)
{
    enum { MANY = 6 };
    pid_t pids[MANY];
    (void)state;
    int *inside =
        mmap(NULL, sizeof *inside, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(inside != MAP_FAILED);
    for (int i = 0; i < MANY; i++) {
        pids[i] = fork();
        if (pids[i] == 0) take_turns(inside);
    }
    for (int i = 0; i < MANY; i++) {
        int end_status;
        assert_int_equal(waitpid(pids[i], &end_status, 0), pids[i]);
        assert_true(WIFEXITED(end_status));
        assert_int_equal(WEXITSTATUS(end_status), 0);
    }
    munmap(inside, sizeof *inside);
    assert_int_equal(files_in("."), 0);
}

/* ---- the end of a process ---- */

static _Noreturn void wait_in_a_child(const char *path, int says)
{
    if (file_lock_take(path) != ST_OK) _exit(1);
    const pid_t child = fork();
    if (child == 0) {
        file_lock_release_all(); /* is not its own */
        for (;;) pause();
    }
    if (write(says, &child, sizeof child) != (ssize_t)sizeof child) _exit(1);
    for (;;) pause();
}

static void a_child_that_lives_longer_does_not_have_it(void **state)
{
    int ends[2];
    pid_t child = 0;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    const pid_t first = fork();
    if (first == 0) wait_in_a_child("x", ends[1]);
    assert_int_equal(read(ends[0], &child, sizeof child), sizeof child);
    usleep(20000);
    is_refused(file_lock_take("x"), "x", first);
    stop(first, SIGKILL);
    assert_int_equal(kill(child, 0), 0);
    assert_int_equal(file_lock_take("x"), ST_OK);
    kill(child, SIGKILL);
    file_lock_release_all();
    assert_int_equal(files_in("."), 0);
    close(ends[0]);
    close(ends[1]);
}

static Status take_with_clean_up(const char *path)
{
    temp_file_clean_up_on_signals();
    return file_lock_take(path);
}

static void a_signal_removes_it(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    (void)state;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        stop(hold(take_with_clean_up, "x"), signals[i]);
        assert_int_equal(files_in("."), 0);
    }
}

/* ---- folders ---- */

static void a_folder_is_all_that_is_in_it(void **state)
{
    (void)state;
    assert_int_equal(mkdir("f", 0777), 0);
    assert_int_equal(mkdir("f/deep", 0777), 0);
    const pid_t first = hold(file_lock_take_folder, "f");
    is_refused(file_lock_take_folder("f"), "f", first);
    is_refused(file_lock_take_folder("f/"), "f", first);
    is_refused(file_lock_take_folder("f/deep"), "/f", first);
    is_refused(file_lock_take("f/x"), "/f", first);
    is_refused(file_lock_take("f/deep/x"), "/f", first);
    is_refused(file_lock_check("f/x"), "/f", first);
    assert_int_equal(file_lock_take("x"), ST_OK);
    file_lock_release_all();
    stop(first, SIGKILL);
    const pid_t writer = hold(file_lock_take, "f/x");
    is_refused(file_lock_take_folder("f"), "f/x", writer);
    stop(writer, SIGKILL);
    assert_int_equal(file_lock_take_folder("f"), ST_OK);
    assert_int_equal(file_lock_take("f/y"), ST_OK); /* which needs no file */
    assert_int_not_equal(access("f/.y.roofstep.lock", F_OK), 0);
    file_lock_release_all();
    assert_int_equal(system("rm -r f"), 0);
    assert_int_equal(files_in("."), 0);
}

/* A file and its folder, taken at the same moment: one of the two has what it wants. */
static _Noreturn void take_soon(volatile int *ready, Take *take, const char *path)
{
    __atomic_add_fetch(ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(ready, __ATOMIC_SEQ_CST) < 2) usleep(10);
    const bool taken = take(path) == ST_OK;
    __atomic_add_fetch(ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(ready, __ATOMIC_SEQ_CST) < 4) usleep(10); /* both have tried */
    file_lock_release_all();
    _exit(taken ? 0 : 1);
}

static void not_both_give_way(void **state)
{
    (void)state;
    int *ready =
        mmap(NULL, sizeof *ready, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(ready != MAP_FAILED);
    assert_int_equal(mkdir("f", 0777), 0);
    for (int i = 0; i < 8; i++) {
        int one, two;
        *ready = 0;
        const pid_t file = fork();
        if (file == 0) take_soon(ready, file_lock_take, "f/x");
        const pid_t whole = fork();
        if (whole == 0) take_soon(ready, file_lock_take_folder, "f");
        assert_int_equal(waitpid(file, &one, 0), file);
        assert_int_equal(waitpid(whole, &two, 0), whole);
        assert_true(one == 0 || two == 0);
        assert_true(one != 0 || two != 0);
    }
    munmap(ready, sizeof *ready);
    assert_int_equal(rmdir("f"), 0);
}

/* As the parts of a suite do. */
static void those_it_starts_write_in_it_too(void **state)
{
    int end_status;
    (void)state;
    assert_int_equal(mkdir("f", 0777), 0);
    assert_int_equal(file_lock_take_folder("f"), ST_OK);
    const pid_t part = fork();
    if (part == 0) {
        const bool may = file_lock_take("f/x") == ST_OK && file_lock_take_folder("f") == ST_OK;
        file_lock_release_all();
        _exit(may && files_in("f") == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(part, &end_status, 0), part);
    assert_int_equal(end_status, 0);
    assert_int_equal(access("f/.roofstep.lock", F_OK), 0);
    file_lock_release_all();
    assert_int_equal(rmdir("f"), 0);
}

/* A file further down, which was taken before the folder above it, stays its writer's. */
static void those_it_starts_take_nothing_away(void **state)
{
    int end_status;
    (void)state;
    assert_int_equal(mkdir("f", 0777) || mkdir("f/deep", 0777), 0);
    const pid_t writer = hold(file_lock_take, "f/deep/x");
    assert_int_equal(file_lock_take_folder("f"), ST_OK);
    const pid_t part = fork();
    if (part == 0) {
        const bool refused = file_lock_take("f/deep/x") == ST_USAGE &&
                             file_lock_take_folder("f/deep") == ST_USAGE &&
                             file_lock_take("f/deep/y") == ST_OK;
        file_lock_release_all();
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(part, &end_status, 0), part);
    assert_int_equal(end_status, 0);
    file_lock_release_all();
    stop(writer, SIGKILL);
    assert_int_equal(system("rm -r f"), 0);
}

/* ---- where there are no locks ---- */

/* fcntl(fd, F_SETLK, ...) fails as it does on a file system without locks. */
static void lose_locks(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

static void without_locks_it_goes_on_and_says_so_once(void **state)
{
    int ends[2], end_status;
    char said[1024];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        lose_locks();
        const bool goes_on = file_lock_take("x") == ST_OK && file_lock_take("y") == ST_OK;
        file_lock_release_all();
        _exit(goes_on && files_in(".") == 0 ? 0 : 1);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &end_status, 0), child);
    const ssize_t n = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    if (WIFEXITED(end_status) && WEXITSTATUS(end_status) == 77) skip();
    assert_int_equal(end_status, 0);
    assert_true(n > 0);
    said[n] = '\0';
    assert_non_null(strstr(said, "x cannot be locked (No locks available)"));
    assert_ptr_equal(strchr(said, '\n'), said + n - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_is_refused_before_the_file_is_there),
        cmocka_unit_test(a_file_is_one_however_it_is_spelled),
        cmocka_unit_test(devices_and_places_that_are_not_there_have_none),
        cmocka_unit_test(only_one_has_it),
        cmocka_unit_test(a_child_that_lives_longer_does_not_have_it),
        cmocka_unit_test(a_signal_removes_it),
        cmocka_unit_test(a_folder_is_all_that_is_in_it),
        cmocka_unit_test(not_both_give_way),
        cmocka_unit_test(those_it_starts_write_in_it_too),
        cmocka_unit_test(those_it_starts_take_nothing_away),
        cmocka_unit_test(without_locks_it_goes_on_and_says_so_once),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
