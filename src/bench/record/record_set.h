/* Results together with the environments they were measured in. */
#pragma once

#include "bench/record/record.h"

/* environments[0] is this run's; others come from files that were read or resumed. Every result
 * names its own by `environment_id`. */
typedef struct RecordSet {
    json_t *environments;      /* array of objects, each with an `id` */
    json_t *results;           /* array of records; both only grow */
    struct RecordIndex *index; /* how they are found; NULL: one after the other */
    json_t *others;            /* object: what else files hold, as the `files` of a suite */
} RecordSet;

/* `environment` may be NULL: a set that only reads files. Takes no reference from the caller. */
Status record_set_init(RecordSet *set, json_t *environment);
void record_set_free(RecordSet *set);
size_t record_set_size(const RecordSet *set);
Record *record_set_at(const RecordSet *set, size_t i); /* borrowed */
/* Appends, sharing the record; one without environment_id gets that of environments[0]. */
Status record_set_add(RecordSet *set, Record *record);
/* Appends a record of another set, and its environment if that is not there yet; if it is, but of
 * another run, the record gets the time and the command of its own. */
Status record_set_share(RecordSet *set, const RecordSet *from, Record *record);
/* Adds the `others` of another set. Of two with one name the first stays. */
Status record_set_keep_others(RecordSet *set, const RecordSet *from);
/* All of another set. */
Status record_set_merge(RecordSet *set, const RecordSet *other);
/* The last result with this key, borrowed, or NULL. */
Record *record_set_find(const RecordSet *set, const char *key);
Record *record_set_find_config(const RecordSet *set, const Config *config);
/* Of a record; borrowed, NULL when unknown. */
json_t *record_set_environment(const RecordSet *set, const Record *record);
