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
    RecordSet set;
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

static Status check_schema(const Reader *in, const json_t *object, size_t line)
{
    const json_t *schema = json_object_get(object, "schema");
    if (!schema) {
        return FAIL(ST_USAGE,
                    "%s: line %zu: no 'schema': not a result file; expected one written "
                    "with --format json or jsonl",
                    in->path, line);
    }
    if (!json_is_integer(schema)) {
        return FAIL(ST_USAGE, "%s: line %zu: 'schema' must be the number %d", in->path, line,
                    RECORD_SCHEMA);
    }
    if (json_integer_value(schema) != RECORD_SCHEMA) {
        return FAIL(ST_USAGE,
                    "%s: line %zu: schema %lld, but this program reads schema %d; use the "
                    "version that wrote it",
                    in->path, line, (long long)json_integer_value(schema), RECORD_SCHEMA);
    }
    return ST_OK;
}

static Status add_environment(Reader *in, json_t *environment, size_t line)
{
    if (!json_is_object(environment)) {
        return FAIL(ST_USAGE, "%s: line %zu: 'environment' must be an object", in->path, line);
    }
    const char *id = json_string_value(json_object_get(environment, "id"));
    if (!id || !*id) {
        return FAIL(ST_USAGE, "%s: line %zu: 'environment' has no 'id' text", in->path, line);
    }
    const Status checked = record_check_numbers(environment);
    if (checked != ST_OK) {
        status_context("%s: line %zu: 'environment'", in->path, line);
        return checked;
    }
    in->file_id = id;
    return record_set_add_environment(&in->set, environment);
}

static Status add_result(Reader *in, json_t *result, const char *where)
{
    const Status checked = record_check(result);
    if (checked != ST_OK) {
        status_context("%s: %s", in->path, where);
        return checked;
    }
    if (!record_text(result, "environment_id")) {
        TRY(record_put_text(result, "environment_id", in->file_id));
    }
    if (!record_set_environment(&in->set, result)) {
        return FAIL(ST_USAGE, "%s: %s: its environment '%.40s' is not in the file", in->path, where,
                    record_text(result, "environment_id"));
    }
    return record_set_add(&in->set, result);
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
        bool known = json_object_get(in->set.others, name) != NULL;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            known = known || strcmp(name, ours[i]) == 0;
        if (!known && json_object_set(in->set.others, name, value))
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
    TRY(check_schema(in, root, 1));
    TRY(keep_others(in, root));
    json_t *environment = json_object_get(root, "environment");
    if (!environment) return FAIL(ST_USAGE, "%s: 'environment' is missing", in->path);
    TRY(add_environment(in, environment, 1));
    const char *own_id = in->file_id;
    const json_t *others = json_object_get(root, "environments");
    for (size_t i = 0; i < json_array_size(others); i++) {
        TRY(add_environment(in, json_array_get(others, i), 1));
    }
    in->file_id = own_id;
    const json_t *results = json_object_get(root, "results");
    if (!json_is_array(results)) {
        return FAIL(ST_USAGE, "%s: 'results' %s", in->path,
                    results ? "must be an array" : "is missing");
    }
    for (size_t i = 0; i < json_array_size(results); i++) {
        char where[48];
        snprintf(where, sizeof where, "result %zu", i + 1);
        TRY(add_result(in, json_array_get(results, i), where));
    }
    return ST_OK;
}

static Status read_line(Reader *in, json_t *value, size_t line)
{
    json_t *environment = json_object_get(value, "environment");
    if (environment) {
        TRY(check_schema(in, value, line));
        TRY(keep_others(in, value));
        return add_environment(in, environment, line);
    }
    if (!in->file_id) {
        return FAIL(ST_USAGE,
                    "%s: line %zu: the first line must hold 'schema' and 'environment'; "
                    "expected a file written with --format jsonl",
                    in->path, line);
    }
    char where[48];
    snprintf(where, sizeof where, "line %zu", line);
    return add_result(in, value, where);
}

/* NULL, without a failure: it is no JSON. */
static Status parse(const Reader *in, json_t **out, const char *text, size_t n, json_error_t *error)
{
    return json_reader_parse(out, in->path, text, n, JSON_REJECT_DUPLICATES, error);
}

static bool is_blank(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strchr(" \t\r\n", text[i])) return false; /* a zero byte counts as blank to strchr */
        if (text[i] == '\0') return false;
    }
    return true;
}

/* A line is torn when it is the last, has no line break and is no JSON: the writer died in it. */
static Status read_lines(Reader *in, const char *text, size_t n, bool *torn)
{
    size_t line = 0;
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        const size_t length = end ? (size_t)(end - text) - at : n - at;
        line++;
        if (!is_blank(text + at, length)) {
            json_error_t error;
            json_t *value = NULL;
            TRY(parse(in, &value, text + at, length, &error));
            *torn = !value && !end;
            if (*torn) return ST_OK;
            if (!value) return syntax_error(in->path, line, true, &error);
            const Status read = read_line(in, value, line);
            json_decref(value);
            TRY(read);
        }
        at += length + 1;
    }
    return ST_OK;
}

/* JSON lines when the first line is an object of its own that holds no results. */
static bool is_lines(const json_t *first)
{
    return json_is_object(first) && !json_object_get(first, "results");
}

static Status read_text(Reader *in, const char *text, size_t n, bool *torn)
{
    if (is_blank(text, n)) {
        return FAIL(ST_USAGE, "%s: the file is empty; delete it or name another", in->path);
    }
    json_error_t error;
    json_t *root = NULL;
    const char *end = memchr(text, '\n', n);
    const size_t first = end ? (size_t)(end - text) : n;
    TRY(parse(in, &root, text, first, &error));
    const bool lines = is_lines(root), whole = is_blank(text + first, n - first);
    if (lines || !whole) json_decref(root);
    if (lines) return read_lines(in, text, n, torn);
    if (!whole) TRY(parse(in, &root, text, n, &error));
    if (!root) {
        return syntax_error(in->path, (size_t)(error.line > 0 ? error.line : 1), false, &error);
    }
    const Status read = read_document(in, root);
    json_decref(root);
    return read;
}

Status record_file_parse(RecordSet *set, const char *text, size_t n, const char *path, bool *torn)
{
    bool cut = false;
    Reader in = {.path = path};
    TRY(record_set_init(&in.set, NULL));
    Status status = read_text(&in, text, n, &cut);
    if (status == ST_OK) status = record_set_merge(set, &in.set);
    if (torn) *torn = cut;
    record_set_free(&in.set);
    return status;
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

static void put_json(Text *out, const json_t *value)
{
    json_text_put(out, value, DUMP_FLAGS);
}

/* "," + a line break + indent between the elements. */
static void put_elements(Text *out, const json_t *array, size_t first)
{
    for (size_t i = first; i < json_array_size(array); i++) {
        text_puts(out, i > first ? ",\n    " : "\n    ");
        put_json(out, json_array_get(array, i));
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
    put_json(out, json_array_get(set->environments, 0));
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
    put_json(out, record);
    text_puts(out, "\n");
    return text_status(out);
}

Status record_file_jsonl(Text *out, const RecordSet *set)
{
    TRY(need_environment(set));
    for (size_t i = 0; i < json_array_size(set->environments); i++) {
        text_printf(out, "{\"schema\":%d,\"environment\":", RECORD_SCHEMA);
        put_json(out, json_array_get(set->environments, i));
        if (i == 0) put_others(out, set, ",");
        text_puts(out, "}\n");
    }
    for (size_t i = 0; i < record_set_size(set); i++) {
        TRY(record_file_line(out, record_set_at(set, i)));
    }
    return text_status(out);
}
