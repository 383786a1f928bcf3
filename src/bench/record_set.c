#include "bench/record_set.h"

#include <string.h>

static Status no_memory(void)
{
    return FAIL(ST_NO_MEMORY, "no memory for the results");
}

static json_t *find_environment(const RecordSet *set, const char *id)
{
    for (size_t i = 0; id && i < json_array_size(set->environments); i++) {
        json_t *environment = json_array_get(set->environments, i);
        const char *other = json_string_value(json_object_get(environment, "id"));
        if (other && strcmp(id, other) == 0) return environment;
    }
    return NULL;
}

Status record_set_init(RecordSet *set, json_t *environment)
{
    *set = (RecordSet){json_array(), json_array()};
    if (!set->environments || !set->results) goto fail;
    if (environment && json_array_append(set->environments, environment)) goto fail;
    return ST_OK;
fail:
    record_set_free(set);
    return no_memory();
}

void record_set_free(RecordSet *set)
{
    json_decref(set->environments);
    json_decref(set->results);
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
    const json_t *first = json_array_get(set->environments, 0);
    const char *id = json_string_value(json_object_get(first, "id"));
    if (!record_text(record, "environment_id") && id) {
        TRY(record_put_text(record, "environment_id", id));
    }
    return json_array_append(set->results, record) ? no_memory() : ST_OK;
}

static Status add_environment(RecordSet *set, json_t *environment)
{
    const char *id = json_string_value(json_object_get(environment, "id"));
    if (find_environment(set, id)) return ST_OK;
    return json_array_append(set->environments, environment) ? no_memory() : ST_OK;
}

/* What an environment says of the moment goes for one run only: a record that moves to a set with
 * the same environment of another run takes it along. */
static Status keep_moment(Record *record, const json_t *own)
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
    if (environment) TRY(add_environment(set, environment));
    if (environment != record_set_environment(set, record)) TRY(keep_moment(record, environment));
    return record_set_add(set, record);
}

Status record_set_merge(RecordSet *set, const RecordSet *other)
{
    for (size_t i = 0; i < json_array_size(other->environments); i++) {
        TRY(add_environment(set, json_array_get(other->environments, i)));
    }
    for (size_t i = 0; i < record_set_size(other); i++) {
        TRY(record_set_share(set, other, record_set_at(other, i)));
    }
    return ST_OK;
}

Record *record_set_find(const RecordSet *set, const char *key)
{
    for (size_t i = record_set_size(set); i-- > 0;) {
        Record *record = record_set_at(set, i);
        const char *other = record_key(record);
        if (other && strcmp(key, other) == 0) return record;
    }
    return NULL;
}

json_t *record_set_environment(const RecordSet *set, const Record *record)
{
    return find_environment(set, record_text(record, "environment_id"));
}
