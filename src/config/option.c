#include "config/option.h"

#include "base/human.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* 1 for a field of Config, 0 for one of Settings. */
#define IN_Config   1
#define IN_Settings 0

const Option option_table[OPTION_COUNT] = {
#define OPTION(id, name, group, kind, home, field, min, max, value, help) \
    {name,                                                                \
     OPTION_GROUP_##group,                                                \
     OPTION_KIND_##kind,                                                  \
     IN_##home,                                                           \
     offsetof(home, field),                                               \
     min,                                                                 \
     max,                                                                 \
     value,                                                               \
     help},
#include "config/options.def"
#undef OPTION
};

_Static_assert(sizeof((Config){0}.model.size) == sizeof((OptionValue){0}.word) &&
                   sizeof((Config){0}.device) == sizeof((OptionValue){0}.word),
               "words are copied whole");
_Static_assert(sizeof(Mode) == sizeof(int) && sizeof(Precision) == sizeof(int) &&
                   sizeof(Attention) == sizeof(int) && sizeof(Exec) == sizeof(int) &&
                   sizeof(Blas) == sizeof(int) && sizeof(Mask) == sizeof(int) &&
                   sizeof(Stat) == sizeof(int),
               "choices are stored as int");

const char *const *option_words(OptionId id)
{
    switch (id) {
    case OPTION_SIZE:
        return config_presets;
    case OPTION_MODE:
        return config_modes;
    case OPTION_PRECISION:
        return config_precisions;
    case OPTION_ATTENTION:
        return config_attentions;
    case OPTION_EXEC:
        return config_execs;
    case OPTION_BLAS:
        return config_blases;
    case OPTION_MASK:
        return config_masks;
    case OPTION_STAT:
        return config_stats;
    default:
        return NULL;
    }
}

static bool takes(const OptionSet *set, int id)
{
    return id == OPTION_HELP || (set->taken >> id & 1) != 0;
}

static const struct Alias {
    const char *name;
    OptionId id;
    const char *value;
} aliases[] = {
#define ALIAS(name, id, value) {name, OPTION_##id, value},
#include "config/option_aliases.def"
#undef ALIAS
};

/* NULL: no other tool calls an option of this command so. */
static const struct Alias *alias_of(const OptionSet *set, const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (takes(set, (int)aliases[i].id) && strcmp(name, aliases[i].name) == 0)
            return &aliases[i];
    }
    return NULL;
}

static const char *nearest_option(const OptionSet *set, const char *name)
{
    const char *names[OPTION_COUNT];
    int n = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (takes(set, id)) names[n++] = option_table[id].name;
    }
    return suggest_word(name, names, n);
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
        if (!takes(set, id)) return refuse(set, name, true);
        *out = (OptionId)id;
        return ST_OK;
    }
    return refuse(set, name, false);
}

void option_defaults(const OptionSet *set, Config *config)
{
    (set->defaults ? set->defaults : config_defaults)(config);
}

bool option_equal(OptionId id, const OptionValue *a, const OptionValue *b)
{
    switch (option_table[id].kind) {
    case OPTION_KIND_INT:
    case OPTION_KIND_BYTES:
    case OPTION_KIND_CHOICE:
    case OPTION_KIND_RECOMPUTE:
        return a->number == b->number;
    case OPTION_KIND_REAL:
    case OPTION_KIND_SECONDS:
    case OPTION_KIND_PERCENT:
    case OPTION_KIND_SCALE:
        return a->real == b->real;
    default:
        return strcmp(a->word, b->word) == 0;
    }
}

/* ---- fields of Config: read into a value, written from one ---- */

OptionValue option_load(OptionId id, const Config *config)
{
    const char *field = (const char *)config + option_table[id].offset;
    OptionValue value = {0};
    int choice;
    switch (option_table[id].kind) {
    case OPTION_KIND_INT:
    case OPTION_KIND_RECOMPUTE:
        memcpy(&value.number, field, sizeof value.number);
        break;
    case OPTION_KIND_REAL:
    case OPTION_KIND_SECONDS:
    case OPTION_KIND_PERCENT:
    case OPTION_KIND_SCALE:
        memcpy(&value.real, field, sizeof value.real);
        break;
    case OPTION_KIND_CHOICE:
        memcpy(&choice, field, sizeof choice);
        value.number = choice;
        break;
    default:
        memcpy(value.word, field, sizeof value.word);
        break;
    }
    return value;
}

void option_store(OptionId id, const OptionValue *value, Config *config)
{
    char *field = (char *)config + option_table[id].offset;
    const int choice = (int)value->number;
    switch (option_table[id].kind) {
    case OPTION_KIND_INT:
    case OPTION_KIND_RECOMPUTE:
        memcpy(field, &value->number, sizeof value->number);
        break;
    case OPTION_KIND_REAL:
    case OPTION_KIND_SECONDS:
    case OPTION_KIND_PERCENT:
    case OPTION_KIND_SCALE:
        memcpy(field, &value->real, sizeof value->real);
        break;
    case OPTION_KIND_CHOICE:
        memcpy(field, &choice, sizeof choice);
        break;
    default:
        memcpy(field, value->word, sizeof value->word);
        break;
    }
}

int option_compare(OptionId id, const Config *a, const Config *b)
{
    const OptionValue x = option_load(id, a), y = option_load(id, b);
    if (x.number != y.number) return x.number < y.number ? -1 : 1;
    if (x.real != y.real) return x.real < y.real ? -1 : 1;
    return strcmp(x.word, y.word);
}

/* As whole numbers: a double would round large ones, in the comparison and in the message. */
Status option_check_integer(OptionId id, int64_t x)
{
    const int64_t min = (int64_t)option_table[id].min, max = (int64_t)option_table[id].max;
    if (x < min) return FAIL(ST_USAGE, "%" PRId64 " is too small; at least %" PRId64, x, min);
    if (x > max) return FAIL(ST_USAGE, "%" PRId64 " is too large; at most %" PRId64, x, max);
    return ST_OK;
}

Status option_check_real(OptionId id, double x)
{
    const Option *option = &option_table[id];
    if (isnan(x) || x < option->min)
        return FAIL(ST_USAGE, "%.15g is too small; at least %.15g", x, option->min);
    if (x > option->max) return FAIL(ST_USAGE, "%.15g is too large; at most %.15g", x, option->max);
    return ST_OK;
}

static Status check_scale(OptionId id, double x)
{
    return x == CONFIG_SCALE_NONE ? ST_OK : option_check_real(id, x);
}

static Status check_choice(OptionId id, int64_t choice)
{
    int64_t n = 0;
    while (option_words(id)[n]) n++;
    return choice >= 0 && choice < n ? ST_OK : FAIL(ST_USAGE, "there is no choice %d", (int)choice);
}

Status option_check(OptionId id, const Config *config)
{
    const OptionValue value = option_load(id, config);
    OptionValue again;
    Status status = ST_OK;
    switch (option_table[id].kind) {
    case OPTION_KIND_INT:
        status = option_check_integer(id, value.number);
        break;
    case OPTION_KIND_REAL:
    case OPTION_KIND_SECONDS:
    case OPTION_KIND_PERCENT:
        status = option_check_real(id, value.real);
        break;
    case OPTION_KIND_RECOMPUTE:
        if (value.number != CONFIG_RECOMPUTE_AUTO) status = option_check_integer(id, value.number);
        break;
    case OPTION_KIND_SCALE:
        status = check_scale(id, value.real);
        break;
    case OPTION_KIND_CHOICE:
        status = check_choice(id, value.number);
        break;
    case OPTION_KIND_DEVICE:
        return option_read(id, value.word, &again);
    default:
        break;
    }
    if (status != ST_OK) status_context("--%s", option_table[id].name);
    return status;
}
