#include "report/validate/validate.h"

#include "base/gzip_file.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "bench/limits/limits_json.h"
#include "bench/record/record.h"

#include <stdio.h>
#include <string.h>

/* ---- kinds of files ---- */

/* Files of older versions lack the newer rows, but none lacks these. */
static Status validate_limits(const json_t *json, ValidateNote *note)
{
    Limits limits;
    TRY(limits_json_decode(&limits, json));
    if (!(limits_peak_flops(&limits, PRECISION_FP32) > 0) || !limits.rate[LIMIT_COPY][LIMITS_ALL].n)
        return FAIL(ST_FAILED, "limits without an fp32 matmul rate or without memory_copy");
    snprintf(note->s, sizeof note->s, "limits of %s",
             *limits.key.gpu ? limits.key.gpu : limits.key.cpu);
    return ST_OK;
}

/* What `suite --resume` goes by. */
static Status validate_suite(const json_t *json, ValidateNote *note)
{
    const json_t *parts = json_object_get(json, "parts");
    size_t i;
    int done = 0, skipped = 0;
    json_t *part;
    json_array_foreach(parts, i, part)
    {
        const char *state = record_text(part, "state");
        if (!state || !record_text(part, "name") || !record_text(part, "words"))
            return FAIL(ST_FAILED, "part %zu lacks name, words or state", i + 1);
        done += strcmp(state, "done") == 0;
        skipped += strcmp(state, "skipped") == 0;
    }
    if (json_array_size(parts) == 0) return FAIL(ST_FAILED, "a suite without parts");
    const int n = snprintf(note->s, sizeof note->s, "a suite, %d of %zu parts done", done,
                           json_array_size(parts) - (size_t)skipped);
    if (skipped > 0) snprintf(note->s + n, sizeof note->s - (size_t)n, ", %d skipped", skipped);
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
    CLEANUP(json_text_free) json_t *json = NULL;
    TRY(pickle_reader_parse(&json, path, text));
    return validate_snapshot(json, note);
}

static Status validate_text(const Text *text, const char *path, ValidateNote *note)
{
    if (text_ends_with(path, ".pickle")) return validate_pickle(text, path, note);
    if (text_ends_with(path, ".csv")) return validate_csv(text, path, note);
    if (text_ends_with(path, ".jsonl")) return validate_result(text, path, note);
    if (text_ends_with(path, ".json") || text_ends_with(path, ".json.gz"))
        return validate_json(text, path, note);
    return FAIL(ST_USAGE, "unknown kind of file: give .json, .json.gz, .jsonl, .csv or .pickle");
}

bool validate_is_document(const char *path)
{
    static const char *const endings[] = {".html", ".md", ".svg", ".tex", ".typ"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (text_ends_with(path, endings[i])) return true;
    }
    return false;
}

Status validate_file(const char *path, ValidateNote *note)
{
    CLEANUP(text_free) Text text = {0};
    note->s[0] = '\0';
    TRY(gzip_file_read(&text, path, PACKED_FILE_MOST));
    return validate_text(&text, path, note);
}
