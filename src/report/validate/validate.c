#include "report/validate/validate.h"

#include "base/gzip_file.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "bench/limits/limits_json.h"
#include "bench/record/record.h"
#include "report/validate/tree_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool validate_ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- what any number of parts adds up to ---- */

bool validate_close(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)) + 1e-6;
}

/* Every member whose name ends in _mib, but total_mib. NAN: one is no number of bytes. */
static double sum_mib(json_t *parts)
{
    const char *name;
    json_t *value;
    double sum = 0;
    json_object_foreach(parts, name, value)
    {
        if (!validate_ends_with(name, "_mib") || strcmp(name, "total_mib") == 0) continue;
        if (!json_is_number(value) || json_number_value(value) < 0) return NAN;
        sum += json_number_value(value);
    }
    return sum;
}

Status validate_parts(const json_t *object, const char *name, const char *total)
{
    double whole;
    json_t *parts = json_object_get(object, name);
    const double sum = sum_mib(parts);
    if (!json_is_object(parts) || !record_number(object, total, &whole))
        return FAIL(ST_FAILED, "%s or %s is missing", name, total);
    if (validate_close(sum, whole)) return ST_OK;
    return FAIL(ST_FAILED, "the parts of %s add up to %.6g MiB, not to %.6g", name, sum, whole);
}

/* ---- kinds of files ---- */

/* Files of older versions lack the newer rows, but none lacks these. */
Status validate_limits(const json_t *json, ValidateNote *note)
{
    Limits limits;
    TRY(limits_json_decode(&limits, json));
    if (!(limits_peak_flops(&limits, PRECISION_FP32) > 0) || !limits.rate[LIMIT_COPY][LIMITS_ALL].n)
        return FAIL(ST_FAILED, "limits without fp32 products or without memory_copy");
    snprintf(note->s, sizeof note->s, "limits of %s",
             *limits.key.gpu ? limits.key.gpu : limits.key.cpu);
    return ST_OK;
}

/* What `suite --resume` goes by. */
static Status validate_suite(const json_t *json, ValidateNote *note)
{
    const json_t *parts = json_object_get(json, "parts");
    size_t i;
    int done = 0;
    json_t *part;
    json_array_foreach(parts, i, part)
    {
        const char *state = record_text(part, "state");
        if (!state || !record_text(part, "name") || !record_text(part, "words"))
            return FAIL(ST_FAILED, "part %zu lacks name, words or state", i + 1);
        done += strcmp(state, "done") == 0;
    }
    if (json_array_size(parts) == 0) return FAIL(ST_FAILED, "a suite without parts");
    snprintf(note->s, sizeof note->s, "a suite, %d of %zu parts done", done,
             json_array_size(parts));
    return ST_OK;
}

/* Several kinds of file are JSON; what they hold tells them apart. */
static Status validate_object(const json_t *json, const Text *text, const char *path,
                              ValidateNote *note)
{
    if (json_object_get(json, "traceEvents")) return validate_trace(text, json, note);
    if (json_object_get(json, "results")) return validate_result(text, path, note);
    if (json_object_get(json, "limits")) return validate_limits(json, note);
    if (json_object_get(json, "suite")) return validate_suite(json, note);
    if (json_object_get(json, "plans")) return validate_plan(json, note);
    if (json_object_get(json, "device_traces")) return validate_snapshot(json, note);
    if (json_is_array(json_object_get(json, "cells")) && !json_object_get(json, "a"))
        return validate_memory(json, note);
    return FAIL(ST_FAILED, "neither results nor a trace, limits, plans, memory or a snapshot: no "
                           "kind of file that validate knows");
}

static Status validate_json(const Text *text, const char *path, ValidateNote *note)
{
    json_error_t error;
    if (text->n == 0) return FAIL(ST_FAILED, "the file is empty");
    CLEANUP(json_text_free) json_t *json = NULL;
    TRY(json_reader_parse(&json, path, text_str(text), text->n, 0, &error));
    if (!json)
        return FAIL(ST_FAILED, "no JSON: %s (line %d, column %d)", error.text, error.line,
                    error.column);
    return validate_object(json, text, path, note);
}

static Status validate_pickle(const Text *text, const char *path, ValidateNote *note)
{
    json_t *json;
    TRY(tree_reader_parse(&json, path, text));
    const Status status = validate_snapshot(json, note);
    json_decref(json);
    return status;
}

static Status validate_text(const Text *text, const char *path, ValidateNote *note)
{
    if (validate_ends_with(path, ".pickle")) return validate_pickle(text, path, note);
    if (validate_ends_with(path, ".csv")) return validate_csv(text, path, note);
    if (validate_ends_with(path, ".jsonl")) return validate_result(text, path, note);
    if (validate_ends_with(path, ".json") || validate_ends_with(path, ".json.gz"))
        return validate_json(text, path, note);
    return FAIL(ST_USAGE, "unknown kind of file: give .json, .json.gz, .jsonl, .csv or .pickle");
}

Status validate_file(const char *path, ValidateNote *note)
{
    CLEANUP(text_free) Text text = {0};
    note->s[0] = '\0';
    TRY(gzip_file_read(&text, path, PACKED_FILE_MOST));
    return validate_text(&text, path, note);
}
