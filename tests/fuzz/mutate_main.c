/* Runs a harness where there is no libFuzzer: every file of the corpus, then inputs made of them.
 *     fuzz_NAME [--tries N] [--seed S] [--first I] [--keep FOLDER] CORPUS...
 * The same seed makes the same inputs on every machine, each by its number alone. Inputs run in a
 * forked process; when it dies, the input is written to FOLDER, counted, and the next one is tried.
 * Exits with 1 when any died. */
#include "harness.h"
#include "mutator.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ROOFSTEP_SANITIZED
size_t __sanitizer_get_current_allocated_bytes(void); /* not every gcc has the header */
#else
#define __sanitizer_get_current_allocated_bytes() ((size_t)0)
#endif

enum { PATIENCE = 20 /* seconds */, MOST_MIB = 1024, MOST_FILES = 512, MOST_CRASHES = 20 };

static struct {
    Text files[MOST_FILES];
    char *names[MOST_FILES];
    int n;
    long tries, first;
    uint64_t seed;
    const char *keep;
} asked = {.tries = 1000, .seed = 31};

/* ---- one input ---- */

/* Of processor time: others may be busy. 0: for ever. */
static void wait_at_most(int seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = seconds}}, NULL);
}

static void run_once(const Text *input)
{
    /* A copy of its own, so that the sanitizers see what reads beyond its end. */
    uint8_t *data = malloc(input->n ? input->n : 1);
    if (!data) harness_fail("no memory for an input");
    memcpy(data, text_str(input), input->n);
    wait_at_most(PATIENCE);
    LLVMFuzzerTestOneInput(data, input->n);
    wait_at_most(0);
    free(data);
}

static long held(void)
{
    return (long)__sanitizer_get_current_allocated_bytes();
}

/* What is kept for the next time is kept once: memory that each of several runs leaves behind is lost. */
static void run_input(const Text *input)
{
    struct rusage use;
    long before = held();
    run_once(input);
    for (int again = 0; held() > before; again++) {
        if (again == 3) harness_fail("%ld bytes are never freed", held() - before);
        before = held();
        run_once(input);
    }
    getrusage(RUSAGE_SELF, &use);
    if (use.ru_maxrss >> 10 > MOST_MIB) harness_fail("it takes %ld MiB", use.ru_maxrss >> 10);
}

/* Numbers below 0 are files of the corpus. */
static void make_input(long number, Text *input)
{
    Mutator m = {
        .seed = asked.seed, .number = (uint64_t)number, .pool = asked.files, .n_pool = asked.n};
    text_clear(input);
    if (number < 0) {
        const Text *file = &asked.files[-1 - number];
        text_append(input, text_str(file), file->n);
    } else {
        mutator_make(&m, input);
    }
}

/* ---- the process that tries them ---- */

/* What the readers print is for users. What a harness or a sanitizer has to say comes from a second run. */
static int work(volatile long *now, long end, bool quiet)
{
    if (quiet && !freopen("/dev/null", "w", stderr)) return 1;
    if (!freopen("/dev/null", "w", stdout)) return 1;
    Text input = {0};
    for (; *now < end; ++*now) {
        make_input(*now, &input);
        run_input(&input);
    }
    text_free(&input);
    return 0;
}

static int run_child(volatile long *now, long end, bool quiet)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) harness_fail("no process: %s", strerror(errno));
    if (child == 0) exit(work(now, end, quiet));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

static const char *cause(int status)
{
    if (!WIFSIGNALED(status)) return "a sanitizer's report";
    return WTERMSIG(status) == SIGPROF ? "no end" : strsignal(WTERMSIG(status));
}

/* Once more, to be heard, and kept as a file. */
static void report(const char *name, volatile long *now, int status)
{
    Text input = {0};
    char path[4096];
    const long number = *now;
    make_input(number, &input);
    if (number < 0)
        snprintf(path, sizeof path, "%s", asked.names[-1 - number]);
    else
        snprintf(path, sizeof path, "%s/crash-%s-%llu-%ld", asked.keep ? asked.keep : ".", name,
                 (unsigned long long)asked.seed, number);
    if (number >= 0 && asked.keep && text_write_file(path, text_str(&input), input.n) != ST_OK)
        fprintf(stderr, "%s\n", status_message());
    fprintf(stderr, "%s: %s: input %ld of seed %llu (%s)\n", name, cause(status), number,
            (unsigned long long)asked.seed, path);
    run_child(now, number + 1, false);
    *now = number;
    text_free(&input);
}

static int run_all(const char *name)
{
    volatile long *now =
        mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (now == MAP_FAILED) harness_fail("no memory");
    const long end = asked.first + asked.tries;
    int crashes = 0;
    *now = asked.first ? asked.first : -asked.n;
    const long begin = *now;
    while (*now < end && crashes < MOST_CRASHES) {
        const int status = run_child(now, end, true);
        if (status == 0) break;
        crashes++;
        report(name, now, status);
        ++*now;
    }
    printf("%-10s seed %llu  tries %ld  crashes %d\n", name, (unsigned long long)asked.seed,
           *now - begin, crashes);
    return crashes > 0;
}

/* ---- the command line ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void read_corpus(const char *folder)
{
    struct dirent **list = NULL;
    const int n = scandir(folder, &list, is_shown, by_name);
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (asked.n == MOST_FILES) harness_fail("more than %d files in the corpus", MOST_FILES);
        if (asprintf(&path, "%s/%s", folder, list[i]->d_name) < 0) harness_fail("no memory");
        if (text_read_file(&asked.files[asked.n], path, MUTATOR_MOST) != ST_OK)
            harness_fail("%s", status_message());
        asked.names[asked.n++] = path;
        free(list[i]);
    }
    free(list);
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    for (int i = 1; i < argc; i++) {
        const bool value = strncmp(argv[i], "--", 2) == 0 && i + 1 < argc;
        if (value && strcmp(argv[i], "--tries") == 0)
            asked.tries = atol(argv[++i]);
        else if (value && strcmp(argv[i], "--seed") == 0)
            asked.seed = strtoull(argv[++i], NULL, 10);
        else if (value && strcmp(argv[i], "--first") == 0)
            asked.first = atol(argv[++i]);
        else if (value && strcmp(argv[i], "--keep") == 0)
            asked.keep = argv[++i];
        else
            read_corpus(argv[i]);
    }
    if (asked.n == 0) {
        fprintf(stderr, "usage: %s [--tries N] [--seed S] [--first I] [--keep FOLDER] CORPUS...\n",
                name);
        return 2;
    }
    harness_folder(); /* this process's, which does not die of an input */
    return run_all(strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name);
}
