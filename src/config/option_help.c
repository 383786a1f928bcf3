#include "config/option_value.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum { HELP_COLUMN = 34 };

/* What this command says of the option itself. */
static OptionWords words_of(OptionId id, const OptionSet *set)
{
    for (int i = 0; i < set->n_words; i++) {
        if (set->words[i].id == id) return set->words[i];
    }
    return (OptionWords){.id = id};
}

void option_help_value(Text *out, OptionId id, const OptionSet *set)
{
    const Option *option = &option_table[id];
    const char *const *words = option->words, *own = words_of(id, set).value;
    if (own || option->value) text_puts(out, own ? own : option->value);
    if (own || option->value) return;
    const int most = id == OPTION_MODE && set->modes ? set->modes : INT_MAX;
    for (int i = 0; words && words[i] && i < most; i++)
        text_printf(out, "%s%s", i ? "|" : "", words[i]);
    if (option->kind != OPTION_KIND_FORMAT || !set->formats) return;
    for (const char *at = set->formats; *at; at++) {
        if (*at != ' ' || at[1]) text_append(out, *at == ' ' ? "|" : at, 1);
    }
}

static void config_value(Text *out, OptionId id, const Config *config)
{
    const OptionKind kind = option_table[id].kind;
    if (kind == OPTION_KIND_PERCENT)
        text_printf(out, "%g%%", 100 * option_value_load(id, config).real);
    else
        text_printf(out, "%s%s", option_value_text(id, config).s,
                    kind == OPTION_KIND_SECONDS ? "s" : "");
}

static void default_text(Text *out, OptionId id, const OptionSet *set)
{
    char format[16];
    Config defaults;
    const char *own = words_of(id, set).by_default;
    if (own) {
        text_printf(out, " (default: %s)", own);
    } else if (option_in(OPTION_LIST(OPTIONS_CUSTOM), id)) {
        text_printf(out, " (default: as --size%s)",
                    option_takes(set, OPTION_MODEL) ? " or --model" : "");
    } else if (id == OPTION_MODEL) { /* --size has the default */
    } else if (id == OPTION_VOCAB) {
        option_defaults(set, &defaults);
        text_printf(out, " (default %" PRId64 "%s)", defaults.model.vocab,
                    option_takes(set, OPTION_MODEL) ? ", or as --model" : "");
    } else if (id == OPTION_FORMAT) {
        if (option_value_read_format(set, NULL, format) == ST_OK)
            text_printf(out, " (default %s)", format);
    } else if (id == OPTION_OUT) {
        text_printf(out, " (default %s)", set->out ? set->out : "stdout");
    } else if (option_is_axis(id)) {
        option_defaults(set, &defaults);
        text_puts(out, " (default ");
        config_value(out, id, &defaults);
        text_puts(out, ")");
    }
}

void option_help_meaning(Text *out, OptionId id, const OptionSet *set)
{
    const char *own = words_of(id, set).help;
    text_puts(out, own ? own : option_table[id].help);
    default_text(out, id, set);
}

static void option_line(Text *out, OptionId id, const OptionSet *set, size_t columns)
{
    const Option *option = &option_table[id];
    const size_t start = out->n;
    text_printf(out, "%s --%s", option_in(set->lists, id) ? "*" : " ", option->name);
    if (option->kind != OPTION_KIND_FLAG) text_puts(out, " ");
    option_help_value(out, id, set);
    const size_t length = out->n - start;
    if (length + 2 > HELP_COLUMN) {
        text_puts(out, "\n");
        text_fill(out, ' ', HELP_COLUMN);
    } else {
        text_fill(out, ' ', HELP_COLUMN - length);
    }
    CLEANUP(text_free) Text meaning = {0};
    option_help_meaning(&meaning, id, set);
    text_wrap(out, text_str(&meaning), HELP_COLUMN, HELP_COLUMN, columns);
    out->failed |= meaning.failed;
    text_puts(out, "\n");
}

void option_help(Text *out, const OptionSet *set, size_t columns)
{
    static const char *const titles[OPTION_GROUP_COUNT] = {"Model", "Run", "Output"};
    bool lists = false;
    int group = -1;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (!option_takes(set, id)) continue;
        lists = lists || option_in(set->lists, id);
        if ((int)option_table[id].group != group) {
            group = (int)option_table[id].group;
            text_printf(out, "\n%s\n", titles[group]);
        }
        option_line(out, (OptionId)id, set, columns);
    }
    if (!lists) return;
    text_puts(out,
              "\n* takes a list (128,256), a range of whole numbers (64-1024*2, 128-512+128)\n"
              "  or repetition; every combination is one cell, the last option varying fastest.\n");
}
