#include "bench/environment_diff.h"

#include <stdio.h>
#include <string.h>

/* Of the moment, or what only names the rest. */
static const char *const passing[] = {
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

/* What a cell used where it was left to the program. */
static const char *const used[] = {"device",    "threads", "blas",
                                   "attention", "exec",    "peer_version"};

static bool is_passing(const char *name)
{
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        if (strcmp(name, passing[i]) == 0) return true;
    }
    return false;
}

static bool is_known(json_t *array, json_t *item)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (json_equal(json_array_get(array, i), item)) return true;
    }
    return false;
}

static json_t *or_null(json_t *value)
{
    return value ? value : json_null();
}

static Status add_pair(json_t *differences, const char *field, json_t *a, json_t *b)
{
    if (json_equal(or_null(a), or_null(b))) return ST_OK;
    json_t *item = json_pack("{s:s, s:O, s:O}", "field", field, "a", or_null(a), "b", or_null(b));
    int failed = !item;
    if (item && !is_known(differences, item)) failed = json_array_append(differences, item);
    json_decref(item);
    return failed ? FAIL(ST_NO_MEMORY, "no memory for a comparison") : ST_OK;
}

static Status add_members(json_t *differences, const char *prefix, json_t *a, json_t *b,
                          bool missing_only);

/* One member of the environments, or all below it. */
static Status add_member(json_t *differences, const char *name, json_t *a, json_t *b)
{
    if (!json_is_object(a) && !json_is_object(b)) return add_pair(differences, name, a, b);
    char prefix[96];
    snprintf(prefix, sizeof prefix, "%s.", name);
    TRY(add_members(differences, prefix, a, b, false));
    return add_members(differences, prefix, b, a, true);
}

/* Members of `a`; `missing_only`: those that `b` has not, with the sides the other way round. */
static Status add_members(json_t *differences, const char *prefix, json_t *a, json_t *b,
                          bool missing_only)
{
    const char *key;
    json_t *value;
    json_object_foreach(a, key, value)
    {
        char name[80];
        json_t *other = json_object_get(b, key);
        snprintf(name, sizeof name, "%s%s", prefix, key);
        if (is_passing(name) || (missing_only && other)) continue;
        TRY(missing_only ? add_member(differences, name, NULL, value)
                         : add_member(differences, name, value, other));
    }
    return ST_OK;
}

Status environment_diff_add(json_t *differences, const RecordSet *set_a, const Record *a,
                            const RecordSet *set_b, const Record *b)
{
    json_t *own_a = record_set_environment(set_a, a), *own_b = record_set_environment(set_b, b);
    TRY(add_members(differences, "", own_a, own_b, false));
    TRY(add_members(differences, "", own_b, own_a, true));
    if (record_status(a) != RECORD_OK || record_status(b) != RECORD_OK) return ST_OK;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        TRY(add_pair(differences, used[i], record_value(a, used[i]), record_value(b, used[i])));
    }
    return ST_OK;
}
