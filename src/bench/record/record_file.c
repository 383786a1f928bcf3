#include "bench/record/record_file.h"

#include "base/gzip_file.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "bench/record/growth.h"
#include "bench/record/record_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_FLAGS = JSON_COMPACT | JSON_REAL_PRECISION(15) };

/* Far more than any sweep writes; keeps a wrong file from eating the memory. */
static const size_t MAX_BYTES = (size_t)1 << 30;

/* ---- reading ---- */

typedef struct Reader {
    const char *path;
    RecordSet *set;
    const char *file_id; /* of the environment that results without an id belong to; borrowed */
} Reader;

/* jansson quotes the text it stumbled over, line breaks and all; a message is one line. */
static void one_line(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ') *text = ' ';
    }
}

static Status syntax_error(const char *path, size_t line, bool lines, json_error_t *error)
{
    one_line(error->text);
    switch (json_error_code(error)) {
    case json_error_premature_end_of_input:
        return FAIL(ST_USAGE, "%s: line %zu: the %s", path, line,
                    lines ? "line is cut short; delete the line"
                          : "file is cut short; use a whole copy or delete it");
    case json_error_invalid_utf8:
        return FAIL(ST_USAGE, "%s: line %zu: not UTF-8 text, so not a result file", path, line);
    case json_error_stack_overflow:
        return FAIL(ST_USAGE, "%s: line %zu: nested too deeply for a result file", path, line);
    case json_error_duplicate_key:
        return FAIL(ST_USAGE, "%s: line %zu: %s; remove one", path, line, error->text);
    default:
        return FAIL(ST_USAGE,
                    "%s: line %zu, column %d: not JSON: %s; expected a file written with "
                    "--format json or jsonl",
                    path, line, error->column, error->text);
    }
}

/* Passes a failure up and says where it was: "results.json: line 3". */
static Status at(const Reader *in, const char *what, size_t number, Status status)
{
    if (status != ST_OK) status_context("%s: %s %zu", in->path, what, number);
    return status;
}

static Status check_schema(const json_t *object)
{
    const json_t *schema = json_object_get(object, "schema");
    if (!schema) {
        return FAIL(ST_USAGE, "no 'schema': not a result file; expected one written with --format "
                              "json or jsonl");
    }
    if (!json_is_integer(schema))
        return FAIL(ST_USAGE, "'schema' must be the number %d", RECORD_SCHEMA);
    if (json_integer_value(schema) == RECORD_SCHEMA) return ST_OK;
    return FAIL(ST_USAGE,
                "schema %lld, but this program reads schema %d; use the version that wrote it",
                (long long)json_integer_value(schema), RECORD_SCHEMA);
}

static Status add_environment(Reader *in, json_t *environment)
{
    if (!json_is_object(environment)) return FAIL(ST_USAGE, "'environment' must be an object");
    const char *id = json_string_value(json_object_get(environment, "id"));
    if (!id || !*id) return FAIL(ST_USAGE, "'environment' has no 'id' text");
    const Status checked = record_check_numbers(environment);
    if (checked != ST_OK) status_context("'environment'");
    TRY(checked);
    in->file_id = id;
    return record_set_add_environment(in->set, environment);
}

static Status add_result(Reader *in, json_t *result)
{
    TRY(record_check(result));
    if (!record_text(result, "environment_id")) {
        TRY(record_put_text(result, "environment_id", in->file_id));
    }
    if (record_set_environment(in->set, result)) return record_set_add(in->set, result);
    return FAIL(ST_USAGE, "its environment '%.40s' is not in the file",
                record_text(result, "environment_id"));
}

/* What is not ours is kept as it is. `growth` is made of the results, by whoever writes them. */
static Status keep_others(Reader *in, json_t *object)
{
    static const char *const ours[] = {"schema", "environment", "environments", "results",
                                       "growth"};
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        bool known = json_object_get(in->set->others, name) != NULL;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            known = known || strcmp(name, ours[i]) == 0;
        if (!known && json_object_set(in->set->others, name, value))
            return NO_MEMORY("for %s", in->path);
    }
    return ST_OK;
}

static Status read_document(Reader *in, json_t *root)
{
    if (!json_is_object(root)) {
        return FAIL(ST_USAGE,
                    "%s: not a result file: expected an object with 'schema', "
                    "'environment' and 'results'",
                    in->path);
    }
    TRY(at(in, "line", 1, check_schema(root)));
    TRY(keep_others(in, root));
    json_t *environment = json_object_get(root, "environment");
    if (!environment) return FAIL(ST_USAGE, "%s: 'environment' is missing", in->path);
    TRY(at(in, "line", 1, add_environment(in, environment)));
    const char *own_id = in->file_id;
    const json_t *others = json_object_get(root, "environments");
    for (size_t i = 0; i < json_array_size(others); i++) {
        TRY(at(in, "line", 1, add_environment(in, json_array_get(others, i))));
    }
    in->file_id = own_id;
    const json_t *results = json_object_get(root, "results");
    if (!json_is_array(results)) {
        return FAIL(ST_USAGE, "%s: 'results' %s", in->path,
                    results ? "must be an array" : "is missing");
    }
    for (size_t i = 0; i < json_array_size(results); i++) {
        TRY(at(in, "result", i + 1, add_result(in, json_array_get(results, i))));
    }
    return ST_OK;
}

static Status read_line(Reader *in, json_t *value)
{
    json_t *environment = json_object_get(value, "environment");
    if (environment) {
        TRY(check_schema(value));
        TRY(keep_others(in, value));
        return add_environment(in, environment);
    }
    if (in->file_id) return add_result(in, value);
    return FAIL(ST_USAGE, "the first line must hold 'schema' and 'environment'; expected a file "
                          "written with --format jsonl");
}

/* NULL, without a failure: it is no JSON. */
static Status parse(const Reader *in, json_t **out, const char *text, size_t n, json_error_t *error)
{
    return json_reader_parse(out, in->path, text, n, JSON_REJECT_DUPLICATES, error);
}

static bool is_blank(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\0' || !strchr(" \t\r\n", text[i])) return false;
    }
    return true;
}

/* A line is torn when it is the last, has no line break and is no JSON: the writer died in it. */
static Status read_lines(Reader *in, const char *text, size_t n, bool *torn)
{
    size_t line = 0;
    for (size_t begin = 0; begin < n;) {
        const char *end = memchr(text + begin, '\n', n - begin);
        const size_t length = end ? (size_t)(end - text) - begin : n - begin;
        line++;
        if (!is_blank(text + begin, length)) {
            json_error_t error;
            CLEANUP(json_text_free) json_t *value = NULL;
            TRY(parse(in, &value, text + begin, length, &error));
            *torn = !value && !end;
            if (*torn) return ST_OK;
            if (!value) return syntax_error(in->path, line, true, &error);
            TRY(at(in, "line", line, read_line(in, value)));
        }
        begin += length + 1;
    }
    return ST_OK;
}

/* JSON lines when the first line is an object of its own that holds no results. */
static Status read_text(Reader *in, const char *text, size_t n, bool *torn)
{
    if (is_blank(text, n)) {
        return FAIL(ST_USAGE, "%s: the file is empty; delete it or name another", in->path);
    }
    json_error_t error;
    CLEANUP(json_text_free) json_t *root = NULL;
    const char *end = memchr(text, '\n', n);
    const size_t first = end ? (size_t)(end - text) : n;
    TRY(parse(in, &root, text, first, &error));
    const bool lines = json_is_object(root) && !json_object_get(root, "results");
    const bool whole = is_blank(text + first, n - first);
    if (lines || !whole) {
        json_decref(root); /* before more memory is taken */
        root = NULL;
    }
    if (lines) return read_lines(in, text, n, torn);
    if (!whole) TRY(parse(in, &root, text, n, &error));
    if (root) return read_document(in, root);
    return syntax_error(in->path, (size_t)(error.line > 0 ? error.line : 1), false, &error);
}

Status record_file_parse(RecordSet *set, const char *text, size_t n, const char *path, bool *torn)
{
    bool cut = false;
    CLEANUP(record_set_free) RecordSet found = {0};
    TRY(record_set_init(&found, NULL));
    TRY(read_text(&(Reader){.path = path, .set = &found}, text, n, &cut));
    if (torn) *torn = cut;
    return record_set_merge(set, &found);
}

Status record_file_read(RecordSet *set, const char *path, bool *torn)
{
    CLEANUP(text_free) Text text = {0};
    const Status status = gzip_file_read(&text, path, MAX_BYTES);
    if (status == ST_IO) return ST_USAGE; /* nothing was done yet */
    TRY(status);
    return record_file_parse(set, text_str(&text), text.n, path, torn);
}

/* ---- writing ---- */

/* "," + a line break + indent between the elements. */
static void put_elements(Text *out, const json_t *array, size_t first)
{
    for (size_t i = first; i < json_array_size(array); i++) {
        text_puts(out, i > first ? ",\n    " : "\n    ");
        json_text_put(out, json_array_get(array, i), DUMP_FLAGS);
    }
}

static Status need_environment(const RecordSet *set)
{
    if (json_array_size(set->environments) > 0) return ST_OK;
    return FAIL(ST_FAILED, "results without an environment cannot be written");
}

/* Made of the results; readers make it again. */
static Status put_growth(Text *out, const RecordSet *set)
{
    CLEANUP(json_text_free) json_t *growth = NULL;
    TRY(growth_json(&growth, set));
    if (json_array_size(growth) > 0) {
        text_puts(out, ",\n  \"growth\": [");
        put_elements(out, growth, 0);
        text_puts(out, "\n  ]");
    }
    return ST_OK;
}

/* The members of `others` behind those that are written; 17 digits give any number back as it was. */
static void put_others(Text *out, const RecordSet *set, const char *separator)
{
    if (json_object_size(set->others) == 0) return;
    char *dump = json_text_dumps(set->others, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (dump) {
        text_puts(out, separator);
        text_append(out, dump + 1, strlen(dump) - 2); /* without { and } */
    } else {
        out->failed = true;
    }
    free(dump);
}

Status record_file_json(Text *out, const RecordSet *set)
{
    TRY(need_environment(set));
    text_printf(out, "{\n  \"schema\": %d,\n  \"environment\": ", RECORD_SCHEMA);
    json_text_put(out, json_array_get(set->environments, 0), DUMP_FLAGS);
    if (json_array_size(set->environments) > 1) {
        text_puts(out, ",\n  \"environments\": [");
        put_elements(out, set->environments, 1);
        text_puts(out, "\n  ]");
    }
    text_puts(out, ",\n  \"results\": [");
    put_elements(out, set->results, 0);
    text_puts(out, "\n  ]");
    TRY(put_growth(out, set));
    put_others(out, set, ",\n  ");
    text_puts(out, "\n}\n");
    return text_status(out);
}

Status record_file_line(Text *out, const Record *record)
{
    json_text_put(out, record, DUMP_FLAGS);
    text_puts(out, "\n");
    return text_status(out);
}

Status record_file_jsonl(Text *out, const RecordSet *set)
{
    TRY(need_environment(set));
    for (size_t i = 0; i < json_array_size(set->environments); i++) {
        text_printf(out, "{\"schema\":%d,\"environment\":", RECORD_SCHEMA);
        json_text_put(out, json_array_get(set->environments, i), DUMP_FLAGS);
        if (i == 0) put_others(out, set, ",");
        text_puts(out, "}\n");
    }
    for (size_t i = 0; i < record_set_size(set); i++) {
        TRY(record_file_line(out, record_set_at(set, i)));
    }
    return text_status(out);
}
