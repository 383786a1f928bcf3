#include "cli/suite/suite_finish.h"

#include "base/escape.h"
#include "base/gzip_file.h"
#include "base/human.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "base/log.h"
#include "bench/record/record_file.h"
#include "report/findings/missing_results.h"
#include "report/findings/summary.h"
#include "report/page/page.h"
#include "report/page/table_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The results of the parts, those of a trace beside them. */
enum { MOST_FILES = SUITE_PARTS + 1 };
static const char trace_name[] = "profile/profile_trace.json.gz";

typedef struct Files {
    ResultInput list[MOST_FILES];
    char paths[MOST_FILES][PATH_MAX];
    const char *names[MOST_FILES];
    int n;
    bool unreadable; /* one of them is there and not among these */
} Files;

/* ---- what there is ---- */

/* A part that was given up may have left nothing, or what an older program wrote: the rest is shown. */
static Status add_file(Files *files, const Suite *suite, const char *name)
{
    char *path = files->paths[files->n];
    ResultInput *file = &files->list[files->n];
    TRY(suite_path(suite, name, path));
    if (access(path, F_OK) != 0) return ST_OK;
    const Status status = result_input_read(file, path);
    if (status == ST_OK) {
        files->names[files->n++] = name;
        return ST_OK;
    }
    result_input_free(file);
    if (status != ST_USAGE) return status;
    files->unreadable = true;
    log_warning("not on the page: %s", status_message());
    return ST_OK;
}

static Status read_files(Files *files, const Suite *suite)
{
    for (int id = 0; id < SUITE_PARTS; id++)
        TRY(add_file(files, suite, suite_part_info[id].result));
    return add_file(files, suite, trace_name);
}

static void files_free(Files *files)
{
    for (int i = 0; i < files->n; i++) result_input_free(&files->list[i]);
    free(files);
}

/* ---- what is missing ---- */

static Status add_gap(json_t *gaps, const Suite *suite, int id)
{
    const SuitePart *part = &suite->parts[id];
    Text why = {0};
    text_printf(&why, "%s; roofstep suite --resume ", *part->message ? part->message : "not run");
    text_shell_quote(&why, suite->folder);
    text_puts(&why, part->cut == 0 ? " tries it again" : " measures again what was cut short");
    json_t *gap = json_pack("{s:s, s:s, s:s}", "part", suite_part_info[id].name, "command",
                            suite_part_info[id].command->name, "why", text_str(&why));
    if (part->cut > 0) json_object_set_new(gap, "cut_short", json_integer(part->cut));
    const bool failed = why.failed || json_array_append_new(gaps, gap);
    text_free(&why);
    return failed ? NO_MEMORY("for the results of a suite") : ST_OK;
}

/* As PageInput wants them; the caller lets go of it, after a failure too. */
static Status find_gaps(json_t **gaps, const Suite *suite)
{
    *gaps = json_array();
    if (!*gaps) return NO_MEMORY("for the results of a suite");
    for (int id = 0; id < SUITE_PARTS; id++) {
        if (suite->parts[id].state != SUITE_DONE) TRY(add_gap(*gaps, suite, id));
    }
    return ST_OK;
}

/* ---- results.json ---- */

static Status add_json(json_t *whole, const char *name, const char *path)
{
    Text text = {0};
    json_t *json = NULL;
    Status status = gzip_file_read(&text, path, PACKED_FILE_MOST);
    if (status == ST_OK) status = json_reader_parse(&json, path, text_str(&text), text.n, 0, NULL);
    if (status == ST_OK && !json)
        status = FAIL(ST_USAGE, "%s is not JSON as a suite writes it: remove it", path);
    if (status == ST_OK && json_object_set_new(whole, name, json))
        status = NO_MEMORY("for the results of a suite");
    text_free(&text);
    return status;
}

static Status add_files(json_t *whole, const Files *files)
{
    for (int i = 0; i < files->n; i++) TRY(add_json(whole, files->names[i], files->paths[i]));
    return ST_OK;
}

static Status merge_rows(RecordSet *rows, const Files *files)
{
    for (int i = 0; i < files->n; i++) {
        const char *name = files->names[i];
        if (strcmp(name, suite_part_info[SUITE_BENCH].result) == 0 ||
            strcmp(name, suite_part_info[SUITE_ATTENTION].result) == 0)
            TRY(record_set_merge(rows, &files->list[i].rows));
    }
    return ST_OK;
}

/* A result file of bench and attention, for compare and scripts, and under "files" and "missing" all that the
 * page is made of. */
static Status write_bundle(const char *path, const RecordSet *rows, const Files *files,
                           json_t *gaps)
{
    Text text = {0};
    Status status = record_file_json(&text, rows);
    json_t *root = status == ST_OK ? json_loadb(text_str(&text), text.n, 0, NULL) : NULL;
    json_t *whole = json_object();
    if (status == ST_OK && json_object_set(root, "files", whole))
        status = NO_MEMORY("for the results of a suite");
    if (status == ST_OK && json_object_set(root, "missing", gaps))
        status = NO_MEMORY("for the results of a suite");
    if (status == ST_OK) status = add_files(whole, files);
    char *dump = json_text_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (status == ST_OK && !dump) status = NO_MEMORY("for the results of a suite");
    if (status == ST_OK) status = text_write_file(path, dump, strlen(dump));
    free(dump);
    json_decref(whole);
    json_decref(root);
    text_free(&text);
    return status;
}

static Status write_results(const Suite *suite, const Files *files, json_t *gaps)
{
    char path[PATH_MAX];
    RecordSet rows;
    TRY(suite_path(suite, "results.json", path));
    TRY(record_set_init(&rows, NULL));
    Status status = merge_rows(&rows, files);
    if (status == ST_OK && record_set_size(&rows) > 0)
        status = write_bundle(path, &rows, files, gaps);
    record_set_free(&rows);
    return status;
}

/* ---- tables and page ---- */

static Status write_tables(const Suite *suite, const Files *files)
{
    char folder[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
    Text text = {0};
    TRY(suite_path(suite, "tables", folder));
    TRY(suite_path(suite, "tables/tables.md", from));
    TRY(suite_path(suite, "tables.md", to));
    const PageInput input = {.files = files->list, .n_files = files->n};
    TRY(table_files_write(folder, &input));
    Status status = text_read_file(&text, from, (size_t)1 << 30);
    if (status == ST_OK) status = text_write_file(to, text_str(&text), text.n);
    text_free(&text);
    return status;
}

static Status write_page(const Suite *suite, const Files *files, json_t *gaps, const char *command)
{
    char path[PATH_MAX];
    Text text = {0};
    TRY(suite_path(suite, "index.html", path));
    if (!page_is_built()) return ST_OK;
    const PageInput input = {
        .files = files->list, .n_files = files->n, .gaps = gaps, .command = command};
    Status status = page_write(&text, &input);
    if (status == ST_OK) status = text_write_file(path, text_str(&text), text.n);
    text_free(&text);
    return status;
}

/* ---- ten lines ---- */

/* One line, whatever is called by a name in it. */
static void put_item(Text *out, const char *text)
{
    text_puts(out, "- ");
    escape_put(out, ESCAPE_LINE, text);
    text_puts(out, "\n");
}

static Status put_summary(Text *out, const Files *files, const json_t *gaps)
{
    json_t *lines = json_array();
    Status status = summary_add(lines, files->list, files->n);
    for (size_t i = 0; i < json_array_size(lines); i++)
        put_item(out, json_string_value(json_array_get(lines, i)));
    json_decref(lines);
    for (size_t i = 0; i < json_array_size(gaps); i++) {
        Text missing = {0};
        missing_results_sentence(&missing, json_array_get(gaps, i));
        put_item(out, text_str(&missing));
        out->failed = out->failed || missing.failed;
        text_free(&missing);
    }
    return status == ST_OK ? text_status(out) : status;
}

static Status finish(const Suite *suite, const Files *files, json_t *gaps, const char *command,
                     Text *summary)
{
    if (files->n == 0) return FAIL(ST_FAILED, "no part left anything to show: see above why");
    TRY(write_results(suite, files, gaps));
    TRY(write_tables(suite, files));
    TRY(write_page(suite, files, gaps, command));
    return put_summary(summary, files, gaps);
}

/* The budget is the suite's own: a part that it ended is on the page as missing, and that is no failure. */
static bool is_whole(const Suite *suite, const Files *files)
{
    bool whole = !files->unreadable;
    for (int id = 0; id < SUITE_PARTS; id++) {
        const SuiteState state = suite->parts[id].state;
        whole = whole && (state == SUITE_DONE || state == SUITE_TIMED_OUT);
    }
    return whole;
}

Status suite_finish(const Suite *suite, const char *command_line, Text *summary, bool *whole)
{
    json_t *gaps = NULL;
    Files *files = calloc(1, sizeof *files);
    if (!files) return NO_MEMORY("for the results of a suite");
    Status status = read_files(files, suite);
    if (status == ST_OK) status = find_gaps(&gaps, suite);
    if (status == ST_OK) status = finish(suite, files, gaps, command_line, summary);
    *whole = is_whole(suite, files);
    json_decref(gaps);
    files_free(files);
    return status;
}
