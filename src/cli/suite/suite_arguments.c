#include "cli/suite/suite_arguments.h"

#include "base/human.h"
#include "config/sweep.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 1024, MOST = 128 };

/* Words apart, as argv has them. */
typedef struct Words {
    char text[LONGEST];
    char *argv[MOST];
    int n;
} Words;

static bool split(Words *words, const char *text)
{
    char *rest = NULL;
    words->n = 0;
    if (snprintf(words->text, LONGEST, "%s", text) >= LONGEST) return false;
    for (char *word = strtok_r(words->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (words->n == MOST) return false;
        words->argv[words->n++] = word;
    }
    return true;
}

/* By its whole name: what is short for it, or "--name=value", a suite does not write. -1: none. */
static int option_named(const char *word, const OptionId *allowed)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_in(allowed, id) && strncmp(word, "--", 2) == 0 &&
            strcmp(word + 2, option_table[id].name) == 0)
            return id;
    }
    return -1;
}

bool suite_arguments_name(const char *words, OptionId id)
{
    Words list;
    if (!split(&list, words)) return false;
    for (int i = 0; i < list.n; i++) {
        if (option_named(list.argv[i], OPTION_LIST(id)) >= 0) return true;
    }
    return false;
}

static Status refuse(const char *file, const char *part, const char *word)
{
    return FAIL(ST_USAGE,
                "%s: %s: %s is not a word that a suite writes there: begin anew in another folder",
                file, part, human_quote(word).s);
}

/* Every option with the one value that it needs. */
static Status check_names(const Words *list, const OptionId *allowed, const char *file,
                          const char *part)
{
    for (int i = 0; i < list->n; i++) {
        const int id = option_named(list->argv[i], allowed);
        if (id < 0) return refuse(file, part, list->argv[i]);
        if (option_table[id].kind != OPTION_KIND_FLAG) i++;
    }
    return ST_OK;
}

static Status check_values(Words *list, const OptionSet *set, const OptionId *allowed)
{
    OptionId both[OPTION_COUNT + 1];
    OptionSet own = *set;
    Settings settings;
    Sweep sweep;
    int n = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_in(set->taken, id) && option_in(allowed, id)) both[n++] = (OptionId)id;
    }
    both[n] = OPTION_END;
    own.taken = both;
    TRY(sweep_parse(&own, list->n, list->argv, &settings, &sweep));
    sweep_free(&sweep);
    return ST_OK;
}

Status suite_arguments_check(const char *words, const OptionSet *set, const OptionId *allowed,
                             const char *file, const char *part)
{
    Words list;
    if (!split(&list, words))
        return FAIL(ST_USAGE, "%s: %s: more words than a suite writes there", file, part);
    TRY(check_names(&list, allowed, file, part));
    const Status status = check_values(&list, set, allowed);
    if (status != ST_OK) status_context("%s: %s", file, part);
    return status;
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
