#include "bench/record/environment_diff.h"

#include "base/json_text.h"

#include <stdio.h>
#include <string.h>

/* Differ from run to run, or only identify the environment: not compared. */
static const char *const volatile_fields[] = {
    "id",
    "time_utc",
    "command",
    "load",
    "steal_percent",
    "memory_available_mib",
    "frequency_mhz",
    "gpu_sm_mhz",
    "gpu_memory_mhz",
    "gpu_power_w",
    "gpu_temperature_c",
};

/* Fields of a record that `auto` resolved. */
static const char *const resolved[] = {"device",    "threads", "blas",
                                       "attention", "exec",    "peer_version"};

static bool is_volatile(const char *name)
{
    for (size_t i = 0; i < sizeof volatile_fields / sizeof *volatile_fields; i++) {
        if (strcmp(name, volatile_fields[i]) == 0) return true;
    }
    return false;
}

/* Marks this text as known; *known: it was known before. */
static Status mark_known(EnvironmentDiff *differences, Text *text, bool *known)
{
    text_puts(text, "\n");
    TRY(text_status(text));
    *known = json_object_get(differences->known, text_str(text)) != NULL;
    return !*known && json_object_set_new(differences->known, text_str(text), json_true())
               ? NO_MEMORY("for a comparison")
               : ST_OK;
}

static json_t *or_null(json_t *value)
{
    return value ? value : json_null();
}

static Status add_pair(EnvironmentDiff *differences, const char *field, json_t *a, json_t *b)
{
    if (json_equal(or_null(a), or_null(b))) return ST_OK;
    CLEANUP(json_text_free)
    json_t *item = json_pack("{s:s, s:O, s:O}", "field", field, "a", or_null(a), "b", or_null(b));
    CLEANUP(text_free) Text text = {0};
    bool known = false;
    json_text_put(&text, item, JSON_COMPACT | JSON_SORT_KEYS);
    TRY(mark_known(differences, &text, &known));
    if (!known && json_array_append(differences->list, item)) return NO_MEMORY("for a comparison");
    return ST_OK;
}

/* Compares all that either has, and what is below it. */
static Status add_members(EnvironmentDiff *differences, const char *prefix, json_t *a, json_t *b)
{
    CLEANUP(json_text_free) json_t *all = json_object();
    const char *key;
    json_t *either;
    if (!all || (json_is_object(a) && json_object_update(all, a)) ||
        (json_is_object(b) && json_object_update_missing(all, b)))
        return NO_MEMORY("for a comparison");
    json_object_foreach(all, key, either)
    {
        char name[80], below[sizeof name + 1];
        json_t *in_a = json_object_get(a, key), *in_b = json_object_get(b, key);
        snprintf(name, sizeof name, "%s%s", prefix, key);
        snprintf(below, sizeof below, "%s.", name);
        if (is_volatile(name)) continue;
        TRY(json_is_object(in_a) || json_is_object(in_b)
                ? add_members(differences, below, in_a, in_b)
                : add_pair(differences, name, in_a, in_b));
    }
    return ST_OK;
}

/* Compares two environments, each pair once. */
static Status add_environments(EnvironmentDiff *differences, json_t *a, json_t *b)
{
    const char *id_a = record_text(a, "id"), *id_b = record_text(b, "id");
    CLEANUP(text_free) Text pair = {0};
    bool known = false;
    text_printf(&pair, "%s\n%s", id_a ? id_a : "", id_b ? id_b : "");
    if (id_a || id_b) TRY(mark_known(differences, &pair, &known));
    return known ? ST_OK : add_members(differences, "", a, b);
}

Status environment_diff_add(EnvironmentDiff *differences, const RecordSet *set_a, const Record *a,
                            const RecordSet *set_b, const Record *b)
{
    TRY(add_environments(differences, record_set_environment(set_a, a),
                         record_set_environment(set_b, b)));
    if (record_status(a) != RECORD_OK || record_status(b) != RECORD_OK) return ST_OK;
    for (size_t i = 0; i < sizeof resolved / sizeof *resolved; i++) {
        TRY(add_pair(differences, resolved[i], record_value(a, resolved[i]),
                     record_value(b, resolved[i])));
    }
    return ST_OK;
}
