#include "cli/live/live_start.h"

#include "backend/cpu_places.h"
#include "base/array.h"
#include "base/human.h"
#include "base/log.h"
#include "bench/measure/child.h"
#include "bench/record/record_file.h"
#include "cli/command.h"
#include "comm/launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the words ---- */

static void add_word(Text *words, const char *word, size_t n)
{
    text_append(words, word, n);
    text_append(words, "", 1);
}

static bool is_program(const char *path)
{
    struct stat info;
    return access(path, X_OK) == 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* A path with blanks may be a program; otherwise blanks are between words. */
static void split(Text *words, const char *command)
{
    if (is_program(command)) {
        add_word(words, command, strlen(command));
        return;
    }
    for (size_t n = 0; *command; command += n) {
        command += strspn(command, " \t");
        n = strcspn(command, " \t");
        if (n > 0) add_word(words, command, n);
    }
}

static Status check_words(const char *name, const Text *words, int n)
{
    static const char *const ours[] = {"--out", "--format", "--out-dir", "--out-json", "-o"};
    const char *program = text_str(words);
    if (!*program) return FAIL(ST_USAGE, "--live: %s names no program", name);
    if (!(strchr(program, '/') ? is_program(program) : launcher_find(program)))
        return FAIL(ST_USAGE, "--live: %s: there is no program %s", name, human_path(program).s);
    if (n < 2)
        return FAIL(
            ST_USAGE,
            "--live: %s has no command: roofstep compare --live OLD NEW -- bench --size tiny",
            name);
    const char *word = program;
    for (int i = 0; i < n; i++, word += strlen(word) + 1) {
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++) {
            const size_t length = strlen(ours[k]);
            if (strncmp(word, ours[k], length) != 0 || (word[length] && word[length] != '='))
                continue;
            return FAIL(ST_USAGE,
                        "--live takes the results of both itself: leave out %s of the command",
                        ours[k]);
        }
    }
    return ST_OK;
}

Status live_start_init(LiveSide *side, const char *name, const char *command,
                       const char *const *words, int n)
{
    int count = 0;
    side->command = command;
    TRY(record_set_init(&side->rows, NULL));
    split(&side->words, command);
    for (int i = 0; i < n; i++) add_word(&side->words, words[i], strlen(words[i]));
    TRY(text_status(&side->words));
    for (size_t i = 0; i < side->words.n; i++) count += side->words.data[i] == '\0';
    TRY(check_words(name, &side->words, count));
    side->argv = calloc((size_t)count + 3, sizeof *side->argv);
    if (!side->argv) return NO_MEMORY("for a command");
    char *word = side->words.data;
    for (int i = 0; i < count; i++, word += strlen(word) + 1) side->argv[i] = word;
    side->argv[count] = "--format";
    side->argv[count + 1] = "json";
    return ST_OK;
}

void live_start_free(LiveSide *side)
{
    text_free(&side->words);
    free(side->argv);
    record_set_free(&side->rows);
}

/* ---- one start ---- */

typedef struct Start {
    char **argv;
    Text result;
} Start;

static int exec_command(void *arg, int out)
{
    const Start *start = arg;
    cpu_places_unbind();
    if (dup2(out, STDOUT_FILENO) < 0) return EXIT_FAILED;
    log_set_mode(LOG_PART);
    execvp(start->argv[0], start->argv);
    log_error("cannot start %s: %s", start->argv[0], strerror(errno));
    return EXIT_FAILED;
}

static void take_line(void *self, const char *line, size_t length)
{
    Start *start = self;
    text_append(&start->result, line, length);
    text_puts(&start->result, "\n");
}

static Status check_end(const char *name, const ChildResult *end)
{
    if (end->end == CHILD_INTERRUPTED) return FAIL(ST_INTERRUPTED, "interrupted");
    /* Of 4 the rows say more. */
    if (end->end == CHILD_RETURNED && (end->code == 0 || end->code == EXIT_CELLS)) return ST_OK;
    return FAIL(end->end == CHILD_RETURNED && end->code == EXIT_USAGE ? ST_USAGE : ST_FAILED,
                "%s %s", name, end->text);
}

static Status check_rows(const char *name, const RecordSet *rows)
{
    if (record_set_size(rows) == 0) return FAIL(ST_FAILED, "%s: its result has no rows", name);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const char *message = record_text(row, "message");
        if (record_status(row) != RECORD_OK)
            return FAIL(ST_FAILED, "%s: a cell was not measured: %s%s%s", name,
                        record_status_word(record_status(row)), message ? ": " : "",
                        message ? message : "");
    }
    return ST_OK;
}

static Status run(char **argv, const char *name, RecordSet *rows)
{
    ChildResult end;
    Start start = {.argv = argv};
    const ChildTask task = {
        .body = exec_command, .arg = &start, .self = &start, .message = take_line};
    Status status = child_run(&task, &end);
    if (status == ST_OK) status = check_end(name, &end);
    if (status == ST_OK) status = text_status(&start.result);
    if (status == ST_OK && start.result.n == 0)
        status = FAIL(ST_USAGE,
                      "%s printed no result: its command must print that of bench as json", name);
    if (status == ST_OK) status = record_set_init(rows, NULL);
    if (status == ST_OK) {
        status = record_file_parse(rows, text_str(&start.result), start.result.n, name, NULL);
        if (status == ST_OK) status = check_rows(name, rows);
        if (status != ST_OK) record_set_free(rows);
    }
    text_free(&start.result);
    return status;
}

Status live_start_run(const LiveSide *side, const char *name, bool profile, RecordSet *rows)
{
    int n = 0, at = -1;
    while (side->argv[n]) n++;
    if (!profile) return run(side->argv, name, rows);
    for (int i = 1; i < n && at < 0; i++) {
        if (strcmp(side->argv[i], "bench") == 0) at = i;
    }
    if (at < 0) return FAIL(ST_UNSUPPORTED, "only of bench there is a profile");
    CLEANUP(array_free) char **argv = calloc((size_t)n + 1, sizeof *argv);
    if (!argv) return NO_MEMORY("for a command");
    for (int i = 0; i < n; i++) argv[i] = i == at ? "profile" : side->argv[i];
    return run(argv, name, rows);
}
