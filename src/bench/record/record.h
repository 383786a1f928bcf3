/* What one cell of a sweep found: a JSON object whose names are a contract (fields.def,
 * phase_fields.h). Everything after the measurement reads records and nothing else. */
#pragma once

#include "base/status.h"
#include "config/config.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A jansson object; owned through its reference count, freed with json_decref. */
typedef json_t Record;

/* The status of a record and of each of its phases. */
typedef enum RecordStatus {
#define RECORD_STATUS(name, word) RECORD_##name,
#include "bench/record/record_statuses.def"
    RECORD_STATUS_COUNT
} RecordStatus;

const char *record_status_word(RecordStatus status);
RecordStatus record_status_find(const char *word); /* RECORD_STATUS_COUNT: unknown */

/* The fields a Config settles (size ... steps, seed, threads, blas ...), status "failed" and no
 * message: a cell that dies before it says otherwise has failed. `cell` keeps what was asked for, so
 * that `device`, `attention` or `threads` may later be replaced by what was used. */
Status record_new(Record **out, const Config *config);

/* A field of a cell (config/cell_fields.def) under its name. */
Status record_put_field(Record *r, int id, const Config *config);

/* What its fields do not say of a model that a configuration file describes. */
Status record_put_model(Record *r, const ModelSpec *model);

/* Setters take dotted paths ("forward.gpu_mean_ms") and replace what is there. A number that is
 * not finite becomes null. Text that is not UTF-8 is repaired, never refused. */
Status record_put_number(Record *r, const char *path, double value);
Status record_put_int(Record *r, const char *path, int64_t value);
Status record_put_text(Record *r, const char *path, const char *text);
Status record_put_null(Record *r, const char *path);
Status record_put_status(Record *r, RecordStatus status,
                         const char *message); /* NULL: no message */
Status record_warn(Record *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A phase ("forward", "backward", "optimizer", "step") from its samples in seconds: status ok,
 * mean_ms ... samples_ms. One sample has no std and no interval: null. */
Status record_put_samples(Record *r, const char *phase, const double *seconds, int n);
/* A phase that was not measured, and why. */
Status record_put_phase(Record *r, const char *phase, RecordStatus status, const char *message);

/* Getters: false (and *out untouched) when the path is absent, null or of another type. */
bool record_number(const Record *r, const char *path, double *out);
bool record_int(const Record *r, const char *path, int64_t *out);
double record_real(const Record *r, const char *path); /* record_number(), or NAN */
/* Owned by the record; NULL when absent. */
const char *record_text(const Record *r, const char *path);
/* The value at a path, borrowed; NULL when absent. */
json_t *record_value(const Record *r, const char *path);
RecordStatus record_status(const Record *r);
/* RECORD_STATUS_COUNT: the record has no such phase. */
RecordStatus record_phase_status(const Record *r, const char *phase);

/* Identity of a cell: equal for equal work, whatever the outcome. NULL for records that have
 * none. */
const char *record_key(const Record *r);
enum { RECORD_KEY_SIZE = 1024 };
void record_key_of_config(const Config *config, char key[RECORD_KEY_SIZE]);
/* The parts of a key one after the other, from {key, 0, 0} on. */
typedef struct RecordKeyPart {
    const char *text;    /* "ctx=512" and what follows it */
    size_t name, length; /* of "ctx", of "ctx=512" */
} RecordKeyPart;
bool record_key_next(RecordKeyPart *part); /* false: no more */
bool record_key_names(const RecordKeyPart *part, const char *field);

/* What the cell was asked for in a field that `record_key` names: "auto" where `attention` says what
 * was used. False when the key has no such field. */
bool record_asked(const Record *r, const char *field, char *text, size_t size);

/* One line of JSON, malloc'd, without a newline; 15 significant digits; NULL when memory runs out. */
char *record_dump(const Record *r);
