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

static Status add_members(EnvironmentDiff *differences, const char *prefix, json_t *a, json_t *b,
                          bool missing_only);

/* Compares one member of the environments, or everything below it. */
static Status add_member(EnvironmentDiff *differences, const char *name, json_t *a, json_t *b)
{
    if (!json_is_object(a) && !json_is_object(b)) return add_pair(differences, name, a, b);
    char prefix[96];
    snprintf(prefix, sizeof prefix, "%s.", name);
    TRY(add_members(differences, prefix, a, b, false));
    return add_members(differences, prefix, b, a, true);
}

/* Compares the members of `a` with `b`. `missing_only`: only members that `b` lacks, sides swapped. */
static Status add_members(EnvironmentDiff *differences, const char *prefix, json_t *a, json_t *b,
                          bool missing_only)
{
    const char *key;
    json_t *value;
    json_object_foreach(a, key, value)
    {
        char name[80];
        json_t *other = json_object_get(b, key);
        snprintf(name, sizeof name, "%s%s", prefix, key);
        if (is_volatile(name) || (missing_only && other)) continue;
        TRY(missing_only ? add_member(differences, name, NULL, value)
                         : add_member(differences, name, value, other));
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
    const Status marked = id_a || id_b ? mark_known(differences, &pair, &known) : ST_OK;
    TRY(marked);
    if (known) return ST_OK;
    TRY(add_members(differences, "", a, b, false));
    return add_members(differences, "", b, a, true);
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
