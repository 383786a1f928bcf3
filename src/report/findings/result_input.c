#include "report/findings/result_input.h"

#include "base/gzip_file.h"
#include "base/json_reader.h"
#include "base/log.h"
#include "bench/limits/limits_json.h"
#include "bench/record/record_file.h"
#include "bench/record/record_stat.h"
#include "config/settings.h"
#include "report/records/record_notes.h"

#include <string.h>

/* ---- which rows are about what ---- */

static ResultKind kind_of(const ResultInput *file, const Record *record)
{
    if (file->sum_count > 0) return RESULT_PRECISION;
    if (file->is_warmup) return RESULT_WARMUP;
    if (record_value(record, "curve") || record_value(record, "curve_steps")) return RESULT_CURVE;
    if (record_value(record, "profile")) return RESULT_PROFILE; /* null: there was no time for it */
    if (record_value(record, "op")) return RESULT_COLLECTIVE;
    return record_value(record, "d_head") ? RESULT_ATTENTION : RESULT_MODEL;
}

static Status sort_rows(ResultInput *file)
{
    for (size_t i = 0; i < record_set_size(&file->rows); i++) {
        Record *record = record_set_at(&file->rows, i);
        TRY(record_set_share(&file->kind[kind_of(file, record)], &file->rows, record));
    }
    return ST_OK;
}

/* ---- reading ---- */

/* The sums are made again, so that the file says how long that takes. */
static Status take_study(ResultInput *file, const json_t *root)
{
    const json_t *sums = json_object_get(root, "accumulation");
    const json_t *count = json_object_get(sums, "count");
    file->sum_count = json_integer_value(count);
    file->sum_value = json_number_value(json_object_get(sums, "value"));
    file->is_warmup = json_is_object(json_object_get(root, "warmup_study"));
    if (!sums ||
        (json_is_integer(count) && file->sum_count >= 1 && file->sum_count <= SETTINGS_MOST_COUNT))
        return ST_OK;
    return FAIL(ST_USAGE, "%s: 'accumulation.count' must be a whole number from 1 to %d",
                file->path, SETTINGS_MOST_COUNT);
}

static Status take_limits(ResultInput *file, const json_t *root)
{
    file->has_limits = true;
    if (limits_json_decode(&file->limits, root) == ST_OK) return ST_OK;
    status_context("%s", file->path);
    return ST_USAGE;
}

static Status take_memory(ResultInput *file, json_t *root)
{
    json_t *environment = json_object_get(root, "environment");
    if (!record_text(environment, "id"))
        return FAIL(ST_USAGE, "%s: its 'environment' has no 'id' text", file->path);
    file->memory = json_incref(json_object_get(root, "cells"));
    return record_set_add_environment(&file->rows, environment);
}

static Status take_trace(ResultInput *file, const json_t *root)
{
    TRY(layer_timeline_make(&file->layer, root));
    TRY(step_timeline_make(&file->step, root));
    if (file->layer) return ST_OK;
    return FAIL(ST_USAGE,
                "%s: the trace has no ops of a layer; use one that roofstep profile wrote",
                file->path);
}

static Status take_records(ResultInput *file, const Text *text)
{
    bool torn = false;
    TRY(record_file_parse(&file->rows, text_str(text), text->n, file->path, &torn));
    if (torn) log_warning("%s: its last line is cut short and left out", file->path);
    /* A file that was resumed with another --stat has rows of both: a table names one. */
    TRY(record_stat_change_set(&file->rows, record_stat_of_set(&file->rows)));
    return sort_rows(file);
}

/* What is no single object (jsonl, or no JSON at all) is left to the reader of records, which
 * says what is wrong with it. */
static Status take(ResultInput *file, const Text *text)
{
    Status status = ST_OK;
    json_t *root = NULL;
    TRY(json_reader_parse(&root, file->path, text_str(text), text->n, JSON_REJECT_DUPLICATES,
                          NULL));
    if (json_object_get(root, "limits") && json_object_get(root, "key"))
        status = take_limits(file, root);
    else if (json_is_array(json_object_get(root, "cells")))
        status = take_memory(file, root);
    else if (json_is_array(json_object_get(root, "forecasts")))
        file->forecasts = json_incref(json_object_get(root, "forecasts"));
    else if (json_is_array(json_object_get(root, "traceEvents")))
        status = take_trace(file, root);
    else
        status = take_study(file, root);
    const bool is_read = file->has_limits || file->memory || file->layer || file->forecasts;
    json_decref(root); /* before there is another tree of the same text */
    return status == ST_OK && !is_read ? take_records(file, text) : status;
}

Status result_input_parse(ResultInput *file, const char *path, const Text *text)
{
    *file = (ResultInput){.path = path};
    TRY(record_set_init(&file->rows, NULL));
    for (int kind = 0; kind < RESULT_KINDS; kind++) TRY(record_set_init(&file->kind[kind], NULL));
    return take(file, text);
}

Status result_input_read(ResultInput *file, const char *path)
{
    CLEANUP(text_free) Text text = {0};
    *file = (ResultInput){.path = path};
    Status status = gzip_file_read(&text, path, PACKED_FILE_MOST);
    if (status == ST_IO) status = ST_USAGE; /* nothing was done yet */
    if (status == ST_OK) status = result_input_parse(file, path, &text);
    return status;
}

void result_input_free(ResultInput *file)
{
    record_set_free(&file->rows);
    for (int kind = 0; kind < RESULT_KINDS; kind++) record_set_free(&file->kind[kind]);
    json_decref(file->memory);
    json_decref(file->forecasts);
    json_decref(file->layer);
    json_decref(file->step);
}

/* ---- names ---- */

const char *result_input_name(const ResultInput *file)
{
    const char *slash = strrchr(file->path, '/');
    return slash && slash[1] ? slash + 1 : file->path;
}

const char *result_input_kind_name(ResultKind kind)
{
    static const char *const names[RESULT_KINDS] = {"model",     "attention", "profile",   "warmup",
                                                    "precision", "curve",     "collective"};
    return names[kind];
}

int result_input_count(const ResultInput *files, int n, ResultKind kind)
{
    int count = 0;
    for (int f = 0; f < n; f++) count += record_set_size(&files[f].kind[kind]) > 0;
    return count;
}

/* Rows are the same ones when they have the same key. */
static bool share_row(const RecordSet *a, const RecordSet *b)
{
    for (size_t i = 0; i < record_set_size(a); i++) {
        const char *key = record_key(record_set_at(a, i));
        if (key && record_set_find(b, key)) return true;
    }
    return false;
}

/* The same cell measured by bench and by a study is no change. */
static bool has_common_cell(const ResultInput *a, const ResultInput *b)
{
    for (int kind = 0; kind < RESULT_KINDS; kind++) {
        if (share_row(&a->kind[kind], &b->kind[kind])) return true;
    }
    return false;
}

const ResultInput *result_input_before(const ResultInput *files, int i)
{
    for (int f = 0; f < i; f++) {
        if (has_common_cell(&files[f], &files[i])) return &files[f];
    }
    return NULL;
}

/* Who multiplied follows from the precision, unless --blas was varied: then it sets no rows apart. */
static bool blas_follows(const RecordSet *rows)
{
    const char *blas[PRECISION_COUNT] = {0};
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const char *own = record_text(record_set_at(rows, i), "blas");
        const char *precision = record_text(record_set_at(rows, i), "precision");
        for (int p = 0; own && precision && p < PRECISION_COUNT; p++) {
            if (strcmp(precision, config_precisions[p]) != 0) continue;
            if (blas[p] && strcmp(blas[p], own) != 0) return false;
            blas[p] = own;
        }
    }
    return true;
}

ColumnSet result_input_distinct(const RecordSet *rows)
{
    ColumnSet shown = column_distinct(rows);
    if (blas_follows(rows)) column_leave_out(&shown, "blas");
    return shown;
}

void result_input_label(Text *out, const RecordSet *rows, const Record *record)
{
    const ColumnSet shown = result_input_distinct(rows);
    record_notes_label(out, &shown, record);
}
