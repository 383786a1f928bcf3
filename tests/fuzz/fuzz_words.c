/* A command line: the first line of the input names a command, each other line is a word. Words are
 * also read as every kind of number and as the values of a sweep; a small plan is made. */
#include "base/parse.h"
#include "bench/limits/comm_link.h"
#include "bench/record/record.h"
#include "cli/command.h"
#include "config/sweep.h"
#include "harness.h"

#include <math.h>
#include <string.h>

enum { WORDS = 40, LENGTH = 512 };

static const unsigned refusals = HARNESS_MAY(USAGE);

/* What is said of a word is one line, whatever is in it. */
static bool taken(Status status)
{
    const bool is = harness_taken(status, refusals);
    if (!is && strpbrk(status_message(), "\n\r\t"))
        harness_fail("a message of two lines: %s", status_message());
    return is;
}

static void read_numbers(const char *word)
{
    CommLink link;
    int64_t n = -1;
    double x = -1;
    harness_forget();
    taken(parse_int(word, &n));
    if (taken(parse_bytes(word, &n)) && n < 0) harness_fail("fewer than no bytes: %s", word);
    if (taken(parse_real(word, &x)) && !isfinite(x)) harness_fail("no number: %s", word);
    if (taken(parse_percent(word, &x)) && !(x >= 0)) harness_fail("no percentage: %s", word);
    if (taken(parse_seconds(word, &x)) && !(x >= 0)) harness_fail("no time: %s", word);
    if (taken(parse_rate(word, &x)) && !(x >= 0)) harness_fail("no rate: %s", word);
    if (taken(comm_link_parse(word, &link)) && !(link.bandwidth >= 1 && link.latency >= 0))
        harness_fail("no link: %s", word);
}

/* Of the option that the word before it names, or of one that its length chooses. */
static void read_axis(const char *word, const char *before)
{
    OptionId id = (OptionId)(strlen(word) % OPTION_DRY_RUN);
    for (int i = 0; before && i < OPTION_DRY_RUN; i++) {
        if (strncmp(before, "--", 2) == 0 && strcmp(before + 2, option_table[i].name) == 0)
            id = (OptionId)i;
    }
    Axis axis = {0};
    harness_forget();
    if (taken(axis_read(&axis, id, word)) && (axis.n < 1 || axis.n > SWEEP_MAX_VALUES))
        harness_fail("%d values of %s", axis.n, word);
    axis_free(&axis);
}

/* It reads and writes no file, starts no ranks, and larger models take longer than they tell. */
static bool is_quick(const Settings *settings, const Sweep *sweep)
{
    return !settings->out && !settings->limits && !settings->step && sweep->n == 1 &&
           (settings->link || sweep->configs[0].ranks <= 1) &&
           sweep->configs[0].model.num_layers <= 4;
}

static void use(const Command *command, const Settings *settings, const Sweep *sweep)
{
    char key[RECORD_KEY_SIZE];
    int exit_code = 0;
    if (settings->help) return;
    if (sweep->n < 1 || sweep->n > SWEEP_MAX_CELLS) harness_fail("%d cells", sweep->n);
    for (int i = 0; i < sweep->n && i < 8; i++) {
        if (config_check(&sweep->configs[i]) != ST_OK)
            harness_fail("a cell that cannot be: %s", status_message());
        record_key_of_config(&sweep->configs[i], key);
    }
    if (command == &cmd_plan && is_quick(settings, sweep)) {
        harness_forget();
        harness_taken(command->run(settings, sweep, &exit_code),
                      refusals | HARNESS_MAY(UNSUPPORTED) | HARNESS_MAY(NO_MEMORY));
    }
}

static void parse_line(const Command *command, int argc, char **argv)
{
    Settings settings;
    Sweep sweep;
    harness_forget();
    const bool parsed = taken(sweep_parse(&command->options, argc, argv, &settings, &sweep));
    if (!parsed && sweep.configs) harness_fail("cells of a command line that was refused");
    settings.command_line = "roofstep";
    if (parsed) use(command, &settings, &sweep);
    sweep_free(&sweep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char words[WORDS][LENGTH];
    char *argv[WORDS];
    int argc = 0;
    const Command *command;
    harness_folder();
    for (size_t at = 0; at < n && argc < WORDS; argc++) {
        const uint8_t *end = memchr(data + at, '\n', n - at);
        const size_t length = end ? (size_t)(end - data) - at : n - at;
        snprintf(words[argc], LENGTH, "%.*s", (int)(length < LENGTH ? length : LENGTH - 1),
                 (const char *)data + at);
        argv[argc] = words[argc];
        at += length + 1;
    }
    for (int i = 0; i < argc; i++) {
        read_numbers(words[i]);
        read_axis(words[i], i > 0 ? words[i - 1] : NULL);
    }
    harness_forget();
    if (argc > 0 && taken(command_find(words[0], &command)))
        parse_line(command, argc - 1, argv + 1);
    return 0;
}
