/* roofstep COMMAND [options]: finds the command, reads its options, prints what went wrong. */
#include "backend/cpu_info.h"
#include "base/escape.h"
#include "base/file_lock.h"
#include "base/human.h"
#include "base/json_reader.h"
#include "base/log.h"
#include "base/temp_file.h"
#include "bench/measure/rank_launch.h"
#include "bench/measure/rank_process.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/name_list.h"
#include "cli/output.h"
#include "comm/launcher.h"
#include "config/model_file.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

static int failed(const char *command, Status status)
{
    char line[2048];
    const char *message = status_message();
    snprintf(line, sizeof line, "roofstep%s%s: %s", command ? " " : "", command ? command : "",
             *message ? message : status_text(status));
    fflush(stdout);
    log_line(line);
    if (status == ST_USAGE || status == ST_UNSUPPORTED) return EXIT_USAGE;
    return status == ST_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_FAILED;
}

/* What stdio held back may not fit on the disk, and what had no memory is not in it. */
static Status flush_stdout(void)
{
    TRY(output_whole());
    if (fflush(stdout) == 0 && !ferror(stdout)) return ST_OK;
    return FAIL(ST_IO, "cannot write to stdout: %s", strerror(errno));
}

static Status print(const Text *text)
{
    TRY(text_status(text));
    fputs(text_str(text), stdout);
    return flush_stdout();
}

static void warn_of_loss_scale(const Settings *settings, const Sweep *sweep)
{
    if (!settings->given[OPTION_LOSS_SCALE]) return;
    for (int i = 0; i < sweep->n; i++) {
        if (sweep->configs[i].precision == PRECISION_FP16) continue;
        log_warning("--loss-scale does nothing in %s: only the loss of fp16 is scaled",
                    config_precisions[sweep->configs[i].precision]);
        return;
    }
}

/* More threads than processors only wait for each other. */
static void warn_of_threads(const Settings *settings, const Sweep *sweep)
{
    CpuInfo info;
    if (!settings->given[OPTION_THREADS]) return;
    if (cpu_info_read(&info, "") != ST_OK) return;
    for (int i = 0; i < sweep->n; i++) {
        if (sweep->configs[i].threads <= info.usable) continue;
        log_warning("--threads %" PRId64 ": this machine has %d processors for this process; more "
                    "threads than that wait for each other",
                    sweep->configs[i].threads, info.usable);
        return;
    }
}

/* Once for each model. */
static void tell_of_dropout(const Sweep *sweep)
{
    const char *told = "";
    for (int i = 0; i < sweep->n; i++) {
        const ModelSpec *model = &sweep->configs[i].model;
        if (!model->dropout || strcmp(model->name, told) == 0) continue;
        log_note("%s: %s", model->name, command_dropout);
        told = model->name;
    }
}

static void tell_of_same_models(const SameModel *same)
{
    if (!*same->kept) return;
    if (strcmp(same->kept, same->left_out) == 0)
        log_note("--model: %s is there twice, as the same model: once in the results", same->kept);
    else
        log_note("--model: %s computes the same as %s: it is the same model, once in the results",
                 same->left_out, same->kept);
}

/* Beside the tree of a file there are its text and what is made of both. */
static void limit_reading(const Settings *settings)
{
    size_t left = 0;
    if (settings->n_args == 0 && !settings->resume) return;
    if (cpu_info_memory_available(&left) == ST_OK) json_reader_set_room(left / 4);
}

static Status run(const Command *command, int argc, char **argv, const char *line, int *exit_code)
{
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    TRY(sweep_parse(&command->options, argc, argv, &settings, &sweep));
    settings.command_line = line;
    if (settings.quiet) log_set_mode(LOG_QUIET);
    if (settings.help) {
        CLEANUP(text_free) Text text = {0};
        help_command(&text, command);
        return print(&text);
    }
    TRY(output_choose_format(&settings, &command->options));
    if (settings.list_models)
        return name_list_write(&settings, &command->options, OPTION_MODEL, model_list_fill);
    if (settings.gpu && strcmp(settings.gpu, "list") == 0)
        return name_list_write(&settings, &command->options, OPTION_GPU, gpu_list_fill);
    TRY(output_lock(&settings, &command->options));
    warn_of_loss_scale(&settings, &sweep);
    warn_of_threads(&settings, &sweep);
    tell_of_same_models(&sweep.same);
    if (command != &cmd_suite || settings.dry_run) tell_of_dropout(&sweep); /* its parts do */
    limit_reading(&settings);
    return command->run(&settings, &sweep, exit_code);
}

/* Results name a model, never the path of its file. A folder that is called as a bundled model is still a
 * folder. */
static void put_models(Text *line, const char *list)
{
    CLEANUP(text_free) Text names = {0};
    while (*list) {
        CLEANUP(text_free) Text path = {0};
        const size_t n = strcspn(list, ",");
        text_append(&path, list, n);
        const ModelName name = model_file_name(text_str(&path));
        const bool folder =
            model_file_is_bundled(name.s) && !model_file_is_bundled(text_str(&path));
        text_printf(&names, "%s%s%s", folder ? "./" : "", name.s, list[n] ? "," : "");
        list += n + (list[n] != 0);
    }
    escape_shell(line, text_str(&names));
}

static void put_argument(Text *line, char **argv, int i)
{
    static const char joined[] = "--model=";
    const size_t n = strlen(joined);
    if (i > 1 && strcmp(argv[i - 1], "--model") == 0) {
        put_models(line, argv[i]);
    } else if (i > 0 && strncmp(argv[i], joined, n) == 0) {
        text_puts(line, joined);
        put_models(line, argv[i] + n);
    } else {
        escape_shell(line, i > 0 ? argv[i] : "roofstep");
    }
}

static int run_command(int argc, char **argv)
{
    const Command *command;
    CLEANUP(text_free) Text line = {0};
    int exit_code = 0;
    Status status = command_find(argv[1], &command);
    if (status != ST_OK) return failed(NULL, status);
    for (int i = 0; i < argc; i++) {
        if (i > 0) text_puts(&line, " ");
        put_argument(&line, argv, i);
    }
    status = text_status(&line);
    if (status == ST_OK) status = run(command, argc - 2, argv + 2, text_str(&line), &exit_code);
    file_lock_release_all();
    if (status == ST_OK) status = flush_stdout();
    return status == ST_OK ? exit_code : failed(command->name, status);
}

/* One of the ranks of a cell, as rank_launch_run() starts it: the command and options that make
 * one cell of it. */
static int run_rank(int argc, char **argv)
{
    const Command *command = NULL;
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    Status status = argc > 0 ? command_find(argv[0], &command)
                             : FAIL(ST_USAGE, "%s is for launchers of ranks", RANK_LAUNCH_WORD);
    if (status == ST_OK && !command->rank_cell)
        status = FAIL(ST_USAGE, "%s has no ranks", command->name);
    if (status == ST_OK && launcher_rank() < 0)
        status = FAIL(ST_USAGE,
                      "no launcher has made a rank of this process; roofstep %s --ranks N "
                      "starts one",
                      command->name);
    if (status == ST_OK)
        status = sweep_parse(&command->options, argc - 1, argv + 1, &settings, &sweep);
    if (status == ST_OK && sweep.n != 1) status = FAIL(ST_USAGE, "a rank has one cell");
    if (status != ST_OK) return failed(RANK_LAUNCH_WORD, status);
    return rank_process_run(&settings, &sweep.configs[0], command->rank_cell);
}

/* "roofstep help", "roofstep help bench", "roofstep help man". */
static Status help(int argc, char **argv)
{
    const char *name = argc > 0 ? argv[0] : NULL;
    const Command *command = NULL;
    CLEANUP(text_free) Text text = {0};
    if (argc > 1)
        return FAIL(ST_USAGE, "%s was not expected; say roofstep help COMMAND",
                    human_quote(argv[1]).s);
    const bool file = name && help_file(&text, name);
    if (name && !file) TRY(command_find(name, &command));
    if (command) help_command(&text, command);
    if (!command && !file) help_program(&text);
    return print(&text);
}

static Status version(void)
{
    CLEANUP(text_free) Text text = {0};
    help_version(&text);
    return print(&text);
}

int main(int argc, char **argv)
{
    Status status;
    temp_file_clean_up_on_signals();
    /* Some daemons leave it ignored to what they start: nobody could wait for a child's end then. */
    signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        CLEANUP(text_free) Text text = {0};
        help_program(&text);
        fputs(text_str(&text), stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        status = help(0, NULL);
    } else if (strcmp(argv[1], "help") == 0) {
        status = help(argc - 2, argv + 2);
    } else if (strcmp(argv[1], "--version") == 0) {
        status = version();
    } else if (strcmp(argv[1], RANK_LAUNCH_WORD) == 0) {
        (void)prctl(PR_SET_NAME, "roofstep");
        return run_rank(argc - 2, argv + 2);
    } else {
        /* For top and killall: run through /proc/self/exe it is "exe". */
        (void)prctl(PR_SET_NAME, "roofstep");
        return run_command(argc, argv);
    }
    return status == ST_OK ? 0 : failed(NULL, status);
}
