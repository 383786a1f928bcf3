#include "bench/record/record_set.h"

Record *record_set_find(const RecordSet *set, const char *key)
{
    return json_object_get(set->result_of, key);
}

Record *record_set_find_config(const RecordSet *set, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    return record_set_find(set, key);
}

Status record_set_init(RecordSet *set, json_t *environment)
{
    *set = (RecordSet){json_array(), json_array(), json_object(), json_object(), json_object()};
    const bool made =
        set->environments && set->results && set->environment_of && set->result_of && set->others;
    if (made && (!environment || record_set_add_environment(set, environment) == ST_OK))
        return ST_OK;
    record_set_free(set);
    return NO_MEMORY("for the results");
}

void record_set_free(RecordSet *set)
{
    json_decref(set->environments);
    json_decref(set->results);
    json_decref(set->environment_of);
    json_decref(set->result_of);
    json_decref(set->others);
    *set = (RecordSet){0};
}

size_t record_set_size(const RecordSet *set)
{
    return json_array_size(set->results);
}

Record *record_set_at(const RecordSet *set, size_t i)
{
    return json_array_get(set->results, i);
}

Status record_set_add(RecordSet *set, Record *record)
{
    const char *key = record_key(record);
    const char *id = record_text(json_array_get(set->environments, 0), "id");
    if (!record_text(record, "environment_id") && id) {
        TRY(record_put_text(record, "environment_id", id));
    }
    const bool added = json_array_append(set->results, record) == 0 &&
                       (!key || json_object_set(set->result_of, key, record) == 0);
    return added ? ST_OK : NO_MEMORY("for the results");
}

Status record_set_add_environment(RecordSet *set, json_t *environment)
{
    const char *id = record_text(environment, "id");
    const bool first = id && !json_object_get(set->environment_of, id);
    const bool added = json_array_append(set->environments, environment) == 0 &&
                       (!first || json_object_set(set->environment_of, id, environment) == 0);
    return added ? ST_OK : NO_MEMORY("for the results");
}

/* An environment already in the set gets the members that only the new one has: another program may
 * have written it. */
static Status merge_environment(RecordSet *set, json_t *environment)
{
    const char *id = record_text(environment, "id");
    json_t *there = id ? json_object_get(set->environment_of, id) : NULL;
    if (!there) return record_set_add_environment(set, environment);
    const bool same = there == environment;
    return same || json_object_update_missing(there, environment) == 0
               ? ST_OK
               : NO_MEMORY("for the results");
}

/* Time and command belong to one run. A record that moves to a set with the same environment of
 * another run takes its own along. */
static Status put_run_fields(Record *record, const json_t *own)
{
    static const char *const names[] = {"time_utc", "command"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = record_text(own, names[i]);
        if (text && !record_text(record, names[i])) TRY(record_put_text(record, names[i], text));
    }
    return ST_OK;
}

Status record_set_share(RecordSet *set, const RecordSet *from, Record *record)
{
    json_t *environment = record_set_environment(from, record);
    if (environment) TRY(merge_environment(set, environment));
    if (environment != record_set_environment(set, record))
        TRY(put_run_fields(record, environment));
    return record_set_add(set, record);
}

Status record_set_keep_others(RecordSet *set, const RecordSet *from)
{
    if (json_object_size(from->others) == 0) return ST_OK;
    return json_object_update_missing(set->others, from->others) ? NO_MEMORY("for the results")
                                                                 : ST_OK;
}

Status record_set_merge(RecordSet *set, const RecordSet *other)
{
    TRY(record_set_keep_others(set, other));
    for (size_t i = 0; i < json_array_size(other->environments); i++) {
        TRY(merge_environment(set, json_array_get(other->environments, i)));
    }
    for (size_t i = 0; i < record_set_size(other); i++) {
        TRY(record_set_share(set, other, record_set_at(other, i)));
    }
    return ST_OK;
}

json_t *record_set_environment(const RecordSet *set, const Record *record)
{
    const char *id = record_text(record, "environment_id");
    return id ? json_object_get(set->environment_of, id) : NULL;
}
