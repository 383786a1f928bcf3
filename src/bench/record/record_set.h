/* Results together with the environments they were measured in. */
#pragma once

#include "bench/record/record.h"

/* environments[0] is this run's; others come from files that were read or resumed. Every result
 * names its own by `environment_id`. */
typedef struct RecordSet {
    json_t *environments;   /* array of objects, each with an `id` */
    json_t *results;        /* array of records; both arrays only grow, by the functions below */
    json_t *environment_of; /* object: the first environment of an `id`, */
    json_t *result_of;      /* and the last result of a key */
    json_t *others;         /* object: other members of the files, such as `files` of a suite */
} RecordSet;

/* `environment` is NULL in a set that only reads files. The caller keeps its reference. */
Status record_set_init(RecordSet *set, json_t *environment);
void record_set_free(RecordSet *set);
size_t record_set_size(const RecordSet *set);
Record *record_set_at(const RecordSet *set, size_t i); /* borrowed */
/* Appends the record, shared. A record without environment_id gets the id of environments[0]. */
Status record_set_add(RecordSet *set, Record *record);
Status record_set_add_environment(RecordSet *set, json_t *environment);
/* Appends a record of another set, and its environment when this set lacks it. When the set has the
 * environment from another run, the record gets the time and command of its own run. */
Status record_set_share(RecordSet *set, const RecordSet *from, Record *record);
/* Adds the `others` of another set; a member that exists stays. */
Status record_set_keep_others(RecordSet *set, const RecordSet *from);
/* Adds everything of another set. */
Status record_set_merge(RecordSet *set, const RecordSet *other);
/* The last result with this key, borrowed, or NULL. */
Record *record_set_find(const RecordSet *set, const char *key);
Record *record_set_find_config(const RecordSet *set, const Config *config);
/* The environment of a record; borrowed, NULL when unknown. */
json_t *record_set_environment(const RecordSet *set, const Record *record);
