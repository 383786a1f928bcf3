#include "cli/suite/suite_arguments.h"

#include "base/human.h"
#include "config/option_value.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LENGTH = 2048, MAX_ARGS = 128 };

typedef struct Arguments {
    char text[MAX_LENGTH];
    char *argv[MAX_ARGS];
    int n;
} Arguments;

static bool split(Arguments *args, const char *text)
{
    char *rest = NULL;
    args->n = 0;
    if (snprintf(args->text, MAX_LENGTH, "%s", text) >= MAX_LENGTH) return false;
    for (char *word = strtok_r(args->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (args->n == MAX_ARGS) return false;
        args->argv[args->n++] = word;
    }
    return true;
}

void suite_arguments_put(Text *out, const OptionId *options, const Settings *settings,
                         const Config *config)
{
    for (; *options != OPTION_END; options++) {
        if (settings->given[*options])
            text_printf(out, "%s--%s %s", out->n > 0 ? " " : "", option_table[*options].name,
                        option_value_text(*options, config).s);
    }
}

Status suite_arguments_keep(const Text *args, char *to, size_t size)
{
    TRY(text_status(args));
    if (args->n >= size) return FAIL(ST_USAGE, "too many arguments for a suite");
    strcpy(to, text_str(args));
    return ST_OK;
}

Status suite_arguments_keep_given(char *to, size_t size, const OptionId *options,
                                  const Settings *settings, const Config *config)
{
    CLEANUP(text_free) Text args = {0};
    suite_arguments_put(&args, options, settings, config);
    return suite_arguments_keep(&args, to, size);
}

/* By its whole name: a suite writes no abbreviation and no "--name=value". */
static bool is_named(const char *arg, int id)
{
    return strncmp(arg, "--", 2) == 0 && strcmp(arg + 2, option_table[id].name) == 0;
}

bool suite_arguments_name(const char *args, OptionId id)
{
    Arguments list;
    if (!split(&list, args)) return false;
    for (int i = 0; i < list.n; i++) {
        if (is_named(list.argv[i], id)) return true;
    }
    return false;
}

Status suite_arguments_parse(const char *args, const OptionSet *set, Settings *settings,
                             Sweep *sweep)
{
    Arguments list;
    if (!split(&list, args)) return FAIL(ST_USAGE, "too many arguments");
    return sweep_parse(set, list.n, list.argv, settings, sweep);
}

static Status refuse(const char *file, const char *field, const char *arg)
{
    return FAIL(ST_USAGE, "%s: %s: unexpected argument %s: start again in another folder", file,
                field, human_quote(arg).s);
}

/* Every option needs one value, flags none. */
static Status check_names(const char *args, const OptionId *allowed, const char *file,
                          const char *field)
{
    Arguments list;
    if (!split(&list, args)) return FAIL(ST_USAGE, "%s: %s: too many arguments", file, field);
    for (int i = 0; i < list.n; i++) {
        int id = 0;
        while (id < OPTION_COUNT && !(option_in(allowed, id) && is_named(list.argv[i], id))) id++;
        if (id == OPTION_COUNT) return refuse(file, field, list.argv[i]);
        if (option_table[id].kind != OPTION_KIND_FLAG) i++;
    }
    return ST_OK;
}

Status suite_arguments_check(const char *args, const OptionSet *set, const OptionId *allowed,
                             const char *file, const char *field)
{
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    TRY(check_names(args, allowed, file, field));
    const Status status = suite_arguments_parse(args, set, &settings, &sweep);
    if (status != ST_OK) status_context("%s: %s", file, field);
    /* a value that is no value: there are no cells */
    return status == ST_OK && settings.help ? refuse(file, field, "--help") : status;
}

Status suite_arguments_check_sizes(const char *sizes, const char *file)
{
    while (*sizes) {
        const size_t n = strcspn(sizes, ",");
        const char *const *known = option_table[OPTION_SIZE].words;
        char size[16];
        snprintf(size, sizeof size, "%.*s", (int)n, sizes);
        while (*known && strcmp(*known, size) != 0) known++;
        if (!*known || sizes[n] != ',') return refuse(file, "sizes", sizes);
        sizes += n + 1;
    }
    return ST_OK;
}
