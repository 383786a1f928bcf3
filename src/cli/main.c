/* roofstep COMMAND [options]: finds the command, reads its options, prints what went wrong. */
#include "backend/cpu_info.h"
#include "base/escape.h"
#include "base/file_lock.h"
#include "base/human.h"
#include "base/json_reader.h"
#include "base/log.h"
#include "base/temp_file.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/output.h"

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

static Status print(Text *text)
{
    Status status = text_status(text);
    if (status == ST_OK) fputs(text_str(text), stdout);
    text_free(text);
    return status == ST_OK ? flush_stdout() : status;
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
    Sweep sweep;
    TRY(sweep_parse(&command->options, argc, argv, &settings, &sweep));
    settings.command_line = line;
    if (settings.help) {
        Text text = {0};
        help_command(&text, command);
        return print(&text);
    }
    Status status = output_choose_format(&settings, &command->options);
    if (status == ST_OK) status = output_lock(&settings, &command->options);
    if (status == ST_OK) warn_of_loss_scale(&settings, &sweep);
    if (status == ST_OK) warn_of_threads(&settings, &sweep);
    if (status == ST_OK) limit_reading(&settings);
    if (status == ST_OK) status = command->run(&settings, &sweep, exit_code);
    sweep_free(&sweep);
    file_lock_release_all();
    return status == ST_OK ? flush_stdout() : status;
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
        escape_shell(&line, i > 0 ? argv[i] : "roofstep");
    }
    status = text_status(&line);
    if (status == ST_OK) status = run(command, argc - 2, argv + 2, text_str(&line), &exit_code);
    return status == ST_OK ? exit_code : failed(command->name, status);
}

/* "roofstep help", "roofstep help bench", "roofstep help man". */
static int help(int argc, char **argv)
{
    const char *name = argc > 0 ? argv[0] : NULL;
    const Command *command = NULL;
    Text text = {0};
    const bool file = name && help_file(&text, name);
    Status status = name && !file ? command_find(name, &command) : ST_OK;
    if (argc > 1)
        status = FAIL(ST_USAGE, "%s was not expected; say roofstep help COMMAND",
                      human_quote(argv[1]).s);
    if (status == ST_OK && command) help_command(&text, command);
    if (status == ST_OK && !command && !file) help_program(&text);
    if (status != ST_OK) {
        text_free(&text);
        return failed(NULL, status);
    }
    status = print(&text);
    return status == ST_OK ? 0 : failed(NULL, status);
}

int main(int argc, char **argv)
{
    Text text = {0};
    temp_file_clean_up_on_signals();
    /* Some daemons leave it ignored to what they start: nobody could wait for a child's end then. */
    signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        help_program(&text);
        fputs(text_str(&text), stderr);
        text_free(&text);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help(0, NULL);
    if (strcmp(argv[1], "help") == 0) return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") != 0) {
        /* For top and killall: run through /proc/self/exe it is "exe". */
        (void)prctl(PR_SET_NAME, "roofstep");
        return run_command(argc, argv);
    }
    help_version(&text);
    const Status status = print(&text);
    return status == ST_OK ? 0 : failed(NULL, status);
}
