#include "config/option.h"

#include "base/human.h"
#include "base/suggest.h"
#include "config/cell_field.h"
#include "config/model_file.h"

#include <stdio.h>
#include <string.h>

/* What decides the dimensions describes the model; all else how it is run. */
#define GROUP_DIMS  OPTION_GROUP_MODEL
#define GROUP_PLAN  OPTION_GROUP_RUN
#define GROUP_STEP  OPTION_GROUP_RUN
#define GROUP_RUN   OPTION_GROUP_RUN
#define GROUP_RANKS OPTION_GROUP_RUN

const Option option_table[OPTION_COUNT] = {
#define CELL(id, option, kind, member, words, least, most, value, help, name, label, subject, \
             part, need, show, key, csv, peer)                                                \
    {option, GROUP_##part, OPTION_KIND_##kind, offsetof(Config, member), words, least, most,  \
     value,  help},
#include "config/cell_fields.def"
#define OPTION(id, name, group, kind, field, least, most, value, help) \
    {name,                                                             \
     OPTION_GROUP_##group,                                             \
     OPTION_KIND_##kind,                                               \
     offsetof(Settings, field),                                        \
     NULL,                                                             \
     least,                                                            \
     most,                                                             \
     value,                                                            \
     help},
#include "config/options.def"
};

_Static_assert(OPTION_VOCAB < 32, "a bit of ModelSpec.changed for every dimension");
_Static_assert(sizeof(Mode) == sizeof(int) && sizeof(Precision) == sizeof(int) &&
                   sizeof(Attention) == sizeof(int) && sizeof(Exec) == sizeof(int) &&
                   sizeof(Blas) == sizeof(int) && sizeof(Mask) == sizeof(int) &&
                   sizeof(Stat) == sizeof(int) && sizeof(Collective) == sizeof(int) &&
                   sizeof(Parallel) == sizeof(int),
               "choices are stored as int");

/* ---- sets ---- */

/* The fields that decide this part of a step or one before it. */
static bool decides(int id, CellPart part, Subject subject)
{
    return id < CELL_FIELD_COUNT && cell_field_table[id].part <= part && cell_field_of(id, subject);
}

static bool is_in_set(OptionId set, int id)
{
    switch (set) {
    case OPTIONS_DIMS:
        return decides(id, CELL_PART_DIMS, SUBJECT_MODEL);
    case OPTIONS_PLAN:
        return decides(id, CELL_PART_PLAN, SUBJECT_MODEL);
    case OPTIONS_STEP:
        return decides(id, CELL_PART_STEP, SUBJECT_MODEL);
    case OPTIONS_PARALLEL:
        return id < CELL_FIELD_COUNT && cell_field_table[id].part == CELL_PART_RANKS;
    case OPTIONS_RANKS:
        return is_in_set(OPTIONS_PARALLEL, id) || id == OPTION_LAUNCHER || id == OPTION_HOSTS ||
               id == OPTION_SHARE_GPU;
    case OPTIONS_ATTENTION:
        return decides(id, CELL_PART_STEP, SUBJECT_ATTENTION);
    case OPTIONS_CUSTOM:
        return id < CELL_FIELD_COUNT && cell_field_table[id].show == CELL_SHOW_CUSTOM;
    case OPTIONS_OUTPUT:
        return id == OPTION_FORMAT || id == OPTION_OUT;
    case OPTIONS_ALL:
        return true;
    default:
        return set == (OptionId)id;
    }
}

bool option_in(const OptionId *list, int id)
{
    for (; list && *list != OPTION_END; list++) {
        if (is_in_set(*list, id)) return true;
    }
    return false;
}

bool option_takes(const OptionSet *set, int id)
{
    return id == OPTION_HELP || id == OPTION_QUIET || option_in(set->taken, id);
}

bool option_given(const Settings *settings, const OptionId *list)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (settings->given[id] && option_in(list, id)) return true;
    }
    return false;
}

bool option_is_axis(int id)
{
    return id < CELL_FIELD_COUNT && id != OPTION_MEMORY_LIMIT;
}

/* ---- names ---- */

static const struct Alias {
    const char *name;
    OptionId id;
    const char *value;
} aliases[] = {
#define ALIAS(name, id, value) {name, OPTION_##id, value},
#include "config/option_aliases.def"
};

/* NULL: no other tool calls an option of this command so. */
static const struct Alias *alias_of(const OptionSet *set, const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (option_takes(set, aliases[i].id) && strcmp(name, aliases[i].name) == 0)
            return &aliases[i];
    }
    return NULL;
}

static const char *nearest_option(const OptionSet *set, const char *name)
{
    const char *names[OPTION_COUNT];
    int n = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_takes(set, id)) names[n++] = option_table[id].name;
    }
    return suggest_word(name, names, n);
}

Status option_needs_value(const OptionSet *set, OptionId id)
{
    const char *name = option_table[id].name;
    const struct Alias *alias = alias_of(set, name);
    if (!alias) return FAIL(ST_USAGE, "--%s needs a value", name);
    return FAIL(ST_USAGE, "--%s needs a value; or did you mean --%s%s?", name,
                option_table[alias->id].name, alias->value);
}

/* Why there is no such option here. */
static Status refuse(const OptionSet *set, const char *name, bool elsewhere)
{
    char typed[SUGGEST_LENGTH + 3];
    snprintf(typed, sizeof typed, "--%s", name);
    const struct Alias *alias = alias_of(set, name);
    if (alias)
        return FAIL(ST_USAGE, "%s is not an option of this command: did you mean --%s%s?",
                    human_plain(typed).s, option_table[alias->id].name, alias->value);
    if (elsewhere) return FAIL(ST_USAGE, "--%s is not an option of this command; see --help", name);
    const char *near = nearest_option(set, name);
    if (near)
        return FAIL(ST_USAGE, "unknown option %s: did you mean --%s?", human_plain(typed).s, near);
    return FAIL(ST_USAGE, "unknown option %s; see --help", human_plain(typed).s);
}

Status option_find(const OptionSet *set, const char *name, OptionId *out)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (strcmp(name, option_table[id].name) != 0) continue;
        if (!option_takes(set, id)) return refuse(set, name, true);
        *out = (OptionId)id;
        return ST_OK;
    }
    return refuse(set, name, false);
}

void option_defaults(const OptionSet *set, Config *config)
{
    (set->defaults ? set->defaults : config_defaults)(config);
}
