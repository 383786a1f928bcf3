#include "bench/record/record_set.h"

#include <stdlib.h>
#include <string.h>

/* ---- lookup by name ---- */

/* Finds elements of a list by the text of one of their fields. */
typedef struct NameIndex {
    const char *field;
    bool last;     /* among equal names the last wins; otherwise the first */
    json_t *found; /* name -> element, for the first n elements; NULL: not built yet */
    size_t n;
} NameIndex;

struct RecordIndex {
    NameIndex results, environments;
};

enum { LEAST_FOR_INDEX = 16 };

static json_t *scan(const json_t *list, const NameIndex *index, const char *name)
{
    json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(list) && (index->last || !found); i++) {
        json_t *element = json_array_get(list, i);
        const char *other = record_text(element, index->field);
        if (other && strcmp(name, other) == 0) found = element;
    }
    return found;
}

/* Indexes the elements added since the last call. False: out of memory. */
static bool index_new_elements(NameIndex *index, const json_t *list)
{
    if (!index->found) index->found = json_object();
    for (; index->n < json_array_size(list); index->n++) {
        json_t *element = json_array_get(list, index->n);
        const char *name = record_text(element, index->field);
        if (!name || (!index->last && json_object_get(index->found, name))) continue;
        if (json_object_set(index->found, name, element)) return false;
    }
    return index->found != NULL;
}

static json_t *find(const json_t *list, NameIndex *index, const char *name)
{
    if (json_array_size(list) < LEAST_FOR_INDEX || !index_new_elements(index, list))
        return scan(list, index, name);
    return json_object_get(index->found, name);
}

static const struct RecordIndex no_index = {.results = {.field = "cell", .last = true},
                                            .environments = {.field = "id"}};

static json_t *find_environment(const RecordSet *set, const char *id)
{
    if (!id) return NULL;
    return set->index ? find(set->environments, &set->index->environments, id)
                      : scan(set->environments, &no_index.environments, id);
}

Record *record_set_find(const RecordSet *set, const char *key)
{
    return set->index ? find(set->results, &set->index->results, key)
                      : scan(set->results, &no_index.results, key);
}

Record *record_set_find_config(const RecordSet *set, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    return record_set_find(set, key);
}

/* ---- a set ---- */

Status record_set_init(RecordSet *set, json_t *environment)
{
    *set = (RecordSet){json_array(), json_array(), malloc(sizeof *set->index), json_object()};
    if (set->index) *set->index = no_index; /* before it is freed */
    if (!set->environments || !set->results || !set->index || !set->others) goto fail;
    if (environment && json_array_append(set->environments, environment)) goto fail;
    return ST_OK;
fail:
    free(set->index);
    set->index = NULL;
    record_set_free(set);
    return NO_MEMORY("for the results");
}

void record_set_free(RecordSet *set)
{
    if (set->index) {
        json_decref(set->index->results.found);
        json_decref(set->index->environments.found);
    }
    free(set->index);
    json_decref(set->environments);
    json_decref(set->results);
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
    const json_t *first = json_array_get(set->environments, 0);
    const char *id = json_string_value(json_object_get(first, "id"));
    if (!record_text(record, "environment_id") && id) {
        TRY(record_put_text(record, "environment_id", id));
    }
    return json_array_append(set->results, record) ? NO_MEMORY("for the results") : ST_OK;
}

/* An environment already in the set gets the members that only the new one has: another program may
 * have written it. */
static Status add_environment(RecordSet *set, json_t *environment)
{
    const char *id = json_string_value(json_object_get(environment, "id"));
    json_t *there = find_environment(set, id);
    if (there == environment) return ST_OK;
    if (there)
        return json_object_update_missing(there, environment) ? NO_MEMORY("for the results")
                                                              : ST_OK;
    return json_array_append(set->environments, environment) ? NO_MEMORY("for the results") : ST_OK;
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
    if (environment) TRY(add_environment(set, environment));
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
        TRY(add_environment(set, json_array_get(other->environments, i)));
    }
    for (size_t i = 0; i < record_set_size(other); i++) {
        TRY(record_set_share(set, other, record_set_at(other, i)));
    }
    return ST_OK;
}

json_t *record_set_environment(const RecordSet *set, const Record *record)
{
    return find_environment(set, record_text(record, "environment_id"));
}
