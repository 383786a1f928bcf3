#include "report/validate.h"

#include "report/packed_file.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A trace and a result file are both JSON; what they hold tells them apart. */
static Status validate_json(const Text *text, const char *path, ValidateNote *note)
{
    json_error_t error;
    json_t *json = json_loadb(text_str(text), text->n, 0, &error);
    if (!json)
        return FAIL(ST_FAILED, "no JSON: %s (line %d, column %d)", error.text, error.line,
                    error.column);
    Status status = ST_OK;
    if (json_object_get(json, "traceEvents"))
        status = validate_trace(text, json, note);
    else if (json_object_get(json, "results"))
        status = validate_result(text, path, note);
    else
        status = FAIL(ST_FAILED, "neither a trace (traceEvents) nor results");
    json_decref(json);
    return status;
}

static Status validate_text(const Text *text, const char *path, ValidateNote *note)
{
    if (ends_with(path, ".csv")) return validate_csv(text, path, note);
    if (ends_with(path, ".jsonl")) return validate_result(text, path, note);
    if (ends_with(path, ".json") || ends_with(path, ".json.gz"))
        return validate_json(text, path, note);
    return FAIL(ST_USAGE, "unknown kind of file: give .json, .json.gz, .jsonl or .csv");
}

Status validate_file(const char *path, ValidateNote *note)
{
    Text text = {0};
    note->s[0] = '\0';
    Status status = packed_file_read(&text, path);
    if (status == ST_OK) status = validate_text(&text, path, note);
    text_free(&text);
    return status;
}
