#include "config/option_value.h"

#include "base/human.h"
#include "base/parse.h"
#include "base/suggest.h"
#include "config/model_file.h"
#include "config/option_forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(sizeof((ModelSpec){0}.size) == sizeof((OptionValue){0}.word) &&
                   sizeof((Config){0}.device) <= sizeof((OptionValue){0}.word),
               "words are copied whole");

/* ---- bounds ---- */

/* As whole numbers: a double would round large ones, in the comparison and in the message. */
Status option_value_check_integer(OptionId id, int64_t x)
{
    const int64_t min = (int64_t)option_table[id].min, max = (int64_t)option_table[id].max;
    if (x < min) return FAIL(ST_USAGE, "%" PRId64 " is too small; at least %" PRId64, x, min);
    if (x > max) return FAIL(ST_USAGE, "%" PRId64 " is too large; at most %" PRId64, x, max);
    return ST_OK;
}

static Status check_real(OptionId id, double x)
{
    const Option *option = &option_table[id];
    if (isnan(x) || x < option->min)
        return FAIL(ST_USAGE, "%.15g is too small; at least %.15g", x, option->min);
    if (x > option->max) return FAIL(ST_USAGE, "%.15g is too large; at most %.15g", x, option->max);
    return ST_OK;
}

/* ---- from text ---- */

/* What other tools call a value, or what an older version did. By its letters "gpu" is nearest to "cpu". */
static const struct {
    const char *theirs, *ours;
} other_names[] = {
    {"gpu", "cuda"},      {"nvidia", "cuda"},    {"float", "fp32"},  {"float32", "fp32"},
    {"bfloat16", "bf16"}, {"float16", "fp16"},   {"half", "fp16"},   {"forward", "fwd"},
    {"inference", "fwd"}, {"training", "train"}, {"markdown", "md"}, {"tex", "latex"},
    {"fastest", "auto"},
};

/* The one of `words` that `s` most likely means, NULL when there is none. */
static const char *meant_by(const char *s, const char *const *words, int n)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        if (strcasecmp(s, other_names[i].theirs) != 0) continue;
        for (int k = 0; k < n; k++) {
            if (strcmp(words[k], other_names[i].ours) == 0) return words[k];
        }
    }
    return suggest_word(s, words, n);
}

static Status not_one_of(const char *s, const char *const *words, int n)
{
    CLEANUP(text_free) Text list = {0};
    for (int i = 0; i < n; i++) text_printf(&list, "%s%s", i ? ", " : "", words[i]);
    const char *near = meant_by(s, words, n);
    return FAIL(ST_USAGE, "%s is not one of %s%s%s%s", human_quote(s).s, text_str(&list),
                near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

Status option_value_read_word(const char *s, const char *const *words, int64_t *index)
{
    int n = 0;
    for (; words[n]; n++) {
        if (strcasecmp(s, words[n]) != 0) continue;
        *index = n;
        return ST_OK;
    }
    return not_one_of(s, words, n);
}

/* The word as the list has it. */
static Status read_listed(const char *s, const char *const *words, OptionValue *out)
{
    int64_t index = 0;
    TRY(option_value_read_word(s, words, &index));
    snprintf(out->word, sizeof out->word, "%s", words[index]);
    return ST_OK;
}

static Status read_device(const char *s, OptionValue *out)
{
    static const char *const words[] = {"auto", "cpu", "cuda", NULL};
    if (strncasecmp(s, "cuda:", 5) == 0) {
        int64_t number = -1;
        if (parse_int(s + 5, &number) != ST_OK || number < 0 || number > 999)
            return FAIL(ST_USAGE, "%s is not a device such as cuda:0", human_quote(s).s);
        snprintf(out->word, sizeof out->word, "cuda:%d", (int)number);
        return ST_OK;
    }
    return read_listed(s, words, out);
}

/* "8" is most likely meant as GiB, "16384" as MiB. */
static Status refuse_bytes(OptionId id, const char *s, int64_t bytes)
{
    static const double most_gib = 4096;
    double number = 0;
    if (parse_real(s, &number) != ST_OK)
        return FAIL(ST_USAGE, "%s is less than %s, the least there can be; give more, as 8GiB",
                    human_quote(s).s, human_bytes(option_table[id].min).s);
    return FAIL(ST_USAGE, "%s is only %" PRId64 " bytes; give a unit, as %.7g%s", human_quote(s).s,
                bytes, number > 0 ? number : 8, number <= most_gib ? "GiB" : "MiB");
}

static Status read_bytes(OptionId id, const char *s, int64_t *out)
{
    TRY(parse_bytes(s, out));
    if ((double)*out >= option_table[id].min) return option_value_check_integer(id, *out);
    return refuse_bytes(id, s, *out);
}

static Status read_model(const char *s, OptionValue *out)
{
    ModelSpec spec;
    TRY(model_file_load(&spec, s));
    out->model = malloc(sizeof spec);
    if (!out->model) return NO_MEMORY("for a model");
    *out->model = spec;
    snprintf(out->word, sizeof out->word, "%s", model_spec_hash(&spec).s);
    return ST_OK;
}

Status option_value_read(OptionId id, const char *s, OptionValue *out)
{
    *out = (OptionValue){0};
    switch (option_table[id].kind) {
    case OPTION_KIND_INT:
        TRY(parse_int(s, &out->number));
        return option_value_check_integer(id, out->number);
    case OPTION_KIND_SIZE:
        TRY(parse_bytes(s, &out->number));
        return option_value_check_integer(id, out->number);
    case OPTION_KIND_BYTES:
        return read_bytes(id, s, &out->number);
    case OPTION_KIND_REAL:
        TRY(parse_real(s, &out->real));
        break;
    case OPTION_KIND_SECONDS:
        TRY(parse_seconds(s, &out->real));
        break;
    case OPTION_KIND_PERCENT:
        TRY(parse_percent(s, &out->real));
        break;
    case OPTION_KIND_SCALE:
        TRY(option_forms_scale(s, &out->real));
        return out->real > 0 ? check_real(id, out->real) : ST_OK;
    case OPTION_KIND_ROUTING:
        TRY(option_forms_routing(s, &out->real));
        break;
    case OPTION_KIND_RECOMPUTE:
        TRY(option_forms_recompute(s, &out->number));
        return out->number > 0 ? option_value_check_integer(id, out->number) : ST_OK;
    case OPTION_KIND_LINEARS:
        return option_forms_linears(s, &out->number);
    case OPTION_KIND_CHOICE:
        return option_value_read_word(s, option_table[id].words, &out->number);
    case OPTION_KIND_PRESET:
        return read_listed(s, option_table[id].words, out);
    case OPTION_KIND_MODEL:
        return read_model(s, out);
    case OPTION_KIND_DEVICE:
        return read_device(s, out);
    default:
        return FAIL(ST_USAGE, "%s cannot be swept", human_quote(s).s);
    }
    return check_real(id, out->real);
}

Status option_value_read_format(const OptionSet *set, const char *s, char format[16])
{
    enum { MOST = 32, LENGTH = 16 };
    char words[MOST * LENGTH], *rest = NULL;
    const char *list[MOST + 1] = {0};
    int n = 0;
    snprintf(words, sizeof words, "%s", set->formats ? set->formats : "");
    for (char *w = strtok_r(words, " ", &rest); w && n < MOST; w = strtok_r(NULL, " ", &rest))
        list[n++] = w;
    int64_t index = 0;
    if (s) TRY(option_value_read_word(s, list, &index));
    snprintf(format, LENGTH, "%s", n ? list[index] : "");
    return ST_OK;
}

/* ---- fields of Config and Settings ---- */

/* Where a value is: in a word, a real or a whole number; a choice is an int. */
static bool is_word(OptionId id)
{
    const OptionKind kind = option_table[id].kind;
    return kind == OPTION_KIND_PRESET || kind == OPTION_KIND_DEVICE || kind == OPTION_KIND_MODEL;
}

static size_t word_size(OptionId id)
{
    return option_table[id].kind == OPTION_KIND_DEVICE ? sizeof((Config){0}.device)
                                                       : sizeof((OptionValue){0}.word);
}

static bool is_real(OptionId id)
{
    const OptionKind kind = option_table[id].kind;
    return kind == OPTION_KIND_REAL || kind == OPTION_KIND_SECONDS || kind == OPTION_KIND_PERCENT ||
           kind == OPTION_KIND_SCALE || kind == OPTION_KIND_ROUTING;
}

OptionValue option_value_load(OptionId id, const void *owner)
{
    const char *field = (const char *)owner + option_table[id].offset;
    OptionValue value = {0};
    int choice;
    if (option_table[id].kind == OPTION_KIND_MODEL) {
        const ModelSpec *model = &((const Config *)owner)->model;
        if (model_spec_is_file(model))
            snprintf(value.word, sizeof value.word, "%s", model_spec_hash(model).s);
    } else if (is_word(id)) {
        memcpy(value.word, field, word_size(id));
    } else if (is_real(id)) {
        memcpy(&value.real, field, sizeof value.real);
    } else if (option_table[id].kind == OPTION_KIND_CHOICE) {
        memcpy(&choice, field, sizeof choice);
        value.number = choice;
    } else {
        memcpy(&value.number, field, sizeof value.number);
    }
    return value;
}

void option_value_store(OptionId id, const OptionValue *value, void *owner)
{
    char *field = (char *)owner + option_table[id].offset;
    const int choice = (int)value->number;
    if (option_table[id].kind == OPTION_KIND_MODEL)
        ((Config *)owner)->model = *value->model;
    else if (is_word(id))
        memcpy(field, value->word, word_size(id));
    else if (is_real(id))
        memcpy(field, &value->real, sizeof value->real);
    else if (option_table[id].kind == OPTION_KIND_CHOICE)
        memcpy(field, &choice, sizeof choice);
    else
        memcpy(field, &value->number, sizeof value->number);
}

int option_value_compare(const OptionValue *a, const OptionValue *b)
{
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    if (a->real != b->real) return a->real < b->real ? -1 : 1;
    return strcmp(a->word, b->word);
}

int option_value_compare_cells(OptionId id, const Config *a, const Config *b)
{
    const OptionValue x = option_value_load(id, a), y = option_value_load(id, b);
    return option_value_compare(&x, &y);
}

static Status check_choice(OptionId id, int64_t choice)
{
    int64_t n = 0;
    while (option_table[id].words[n]) n++;
    return choice >= 0 && choice < n ? ST_OK : FAIL(ST_USAGE, "there is no choice %d", (int)choice);
}

Status option_value_check(OptionId id, const Config *config)
{
    const OptionValue value = option_value_load(id, config);
    OptionValue again;
    Status status = ST_OK;
    switch (option_table[id].kind) {
    case OPTION_KIND_PRESET:
    case OPTION_KIND_MODEL:
        break;
    case OPTION_KIND_DEVICE:
        return option_value_read(id, value.word, &again);
    case OPTION_KIND_CHOICE:
        status = check_choice(id, value.number);
        break;
    case OPTION_KIND_BYTES:
        if (value.number != 0) status = option_value_check_integer(id, value.number);
        break;
    case OPTION_KIND_RECOMPUTE:
        if (value.number != CONFIG_RECOMPUTE_AUTO)
            status = option_value_check_integer(id, value.number);
        break;
    case OPTION_KIND_SCALE:
        if (value.real != CONFIG_SCALE_NONE) status = check_real(id, value.real);
        break;
    default:
        status =
            is_real(id) ? check_real(id, value.real) : option_value_check_integer(id, value.number);
    }
    if (status != ST_OK) status_context("--%s", option_table[id].name);
    return status;
}

ConfigText option_value_text(OptionId id, const Config *config)
{
    const OptionValue value = option_value_load(id, config);
    ConfigText text = {""};
    if (option_table[id].kind == OPTION_KIND_SCALE) return config_loss_scale_text(value.real);
    if (option_table[id].kind == OPTION_KIND_ROUTING) return config_routing_text(value.real);
    if (option_table[id].kind == OPTION_KIND_RECOMPUTE) return config_recompute_text(value.number);
    if (option_table[id].kind == OPTION_KIND_LINEARS) return config_linears_text(value.number);
    if (is_word(id))
        snprintf(text.s, sizeof text.s, "%s", value.word);
    else if (is_real(id))
        snprintf(text.s, sizeof text.s, "%.15g", value.real + 0); /* without the sign of -0 */
    else if (option_table[id].kind == OPTION_KIND_CHOICE)
        snprintf(text.s, sizeof text.s, "%s", option_table[id].words[value.number]);
    else
        snprintf(text.s, sizeof text.s, "%" PRId64, value.number);
    return text;
}
