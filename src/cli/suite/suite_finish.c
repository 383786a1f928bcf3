#include "base/escape.h"
#include "base/gzip_file.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "base/log.h"
#include "cli/output.h"
#include "cli/suite/suite.h"
#include "cli/suite/suite_files.h"
#include "cli/suite/suite_output.h"
#include "report/findings/missing_results.h"
#include "report/findings/summary.h"
#include "report/page/table_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The result file of every part, the trace of profile, and those of ranks, one of each --parallel. */
enum { MAX_TRACES = PARALLEL_COUNT, MAX_FILES = SUITE_PARTS + 1 + MAX_TRACES };
static const char trace_name[] = "profile/profile_trace.json.gz";
static const char ranks_folder[] = "ranks_profile", trace_ending[] = "_trace.json.gz";

typedef struct Files {
    ResultInput list[MAX_FILES];
    char paths[MAX_FILES][PATH_MAX];
    char names[MAX_FILES][NAME_MAX + sizeof ranks_folder + 1];
    int n;
    bool unreadable; /* a file exists that could not be read */
} Files;

/* ---- input ---- */

/* A part that timed out may have left no file, or one of an older program: the page shows the others. */
static Status add_file(Files *files, const Suite *suite, const char *name)
{
    char *path = files->paths[files->n];
    ResultInput *file = &files->list[files->n];
    TRY(output_path(suite->folder, name, path));
    if (access(path, F_OK) != 0) return ST_OK;
    const Status status = result_input_read(file, path);
    if (status == ST_OK) {
        snprintf(files->names[files->n++], sizeof *files->names, "%s", name);
        return ST_OK;
    }
    result_input_free(file);
    if (status != ST_USAGE) return status;
    files->unreadable = true;
    log_warning("not on the page: %s", status_message());
    return ST_OK;
}

static int is_trace(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name), ending = sizeof trace_ending - 1;
    return n > ending && strcmp(entry->d_name + n - ending, trace_ending) == 0;
}

/* What they are called follows from what the cells differ in. */
static Status add_rank_traces(Files *files, const Suite *suite)
{
    char path[PATH_MAX], name[sizeof *files->names];
    struct dirent **list = NULL;
    Status status = ST_OK;
    TRY(output_path(suite->folder, ranks_folder, path));
    const int n = scandir(path, &list, is_trace, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", ranks_folder, list[i]->d_name);
        if (status == ST_OK && i < MAX_TRACES) status = add_file(files, suite, name);
        free(list[i]);
    }
    free(list);
    return status;
}

static Status read_files(Files *files, const Suite *suite)
{
    for (int id = 0; id < SUITE_PARTS; id++)
        TRY(add_file(files, suite, suite_parts_info[id].result));
    TRY(add_file(files, suite, trace_name));
    return add_rank_traces(files, suite);
}

static void files_free(Files **files)
{
    for (int i = 0; *files && i < (*files)->n; i++) result_input_free(&(*files)->list[i]);
    free(*files);
}

/* Fills PageInput.gaps. */
static Status add_missing(json_t *missing, const Suite *suite)
{
    for (int id = 0; id < SUITE_PARTS; id++) {
        const SuitePart *part = &suite->parts[id];
        if (suite_part_is_over(part)) continue;
        TRY(suite_output_add_missing(missing, suite->folder, suite_parts_info[id].name,
                                     suite_parts_info[id].command->name,
                                     *part->message ? part->message : "not run", part->cut));
    }
    return ST_OK;
}

/* ---- results.json ---- */

static Status add_json(json_t *all, const char *name, const char *path)
{
    CLEANUP(text_free) Text text = {0};
    json_t *json = NULL;
    TRY(gzip_file_read(&text, path, PACKED_FILE_MOST));
    TRY(json_reader_parse(&json, path, text_str(&text), text.n, 0, NULL));
    if (!json) return FAIL(ST_USAGE, "%s is not JSON as a suite writes it: remove it", path);
    return json_object_set_new(all, name, json) ? NO_MEMORY("for the results of a suite") : ST_OK;
}

static bool has_rows(const char *name)
{
    return strcmp(name, suite_parts_info[SUITE_BENCH].result) == 0 ||
           strcmp(name, suite_parts_info[SUITE_ATTENTION].result) == 0 ||
           strcmp(name, suite_parts_info[SUITE_RANKS].result) == 0;
}

/* Collects the rows of bench, attention and ranks, and under "files" every file that the page reads. */
static Status collect(const Files *files, RecordSet *rows, json_t *all)
{
    for (int i = 0; i < files->n; i++) {
        if (has_rows(files->names[i])) TRY(record_set_merge(rows, &files->list[i].rows));
        TRY(add_json(all, files->names[i], files->paths[i]));
    }
    return ST_OK;
}

static Status write_results(const Suite *suite, const Files *files, json_t *missing)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    json_t *all = json_object();
    CLEANUP(json_text_free)
    json_t *members = json_pack("{s:o, s:O}", "files", all, "missing", missing);
    if (!members) return NO_MEMORY("for the results of a suite");
    TRY(record_set_init(&rows, NULL));
    TRY(collect(files, &rows, all));
    return record_set_size(&rows) > 0 ? suite_output_results(suite->folder, &rows, members) : ST_OK;
}

/* ---- tables and summary ---- */

static Status write_tables(const Suite *suite, const PageInput *input)
{
    char folder[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
    CLEANUP(text_free) Text text = {0};
    TRY(output_path(suite->folder, "tables", folder));
    TRY(output_path(suite->folder, "tables/tables.md", from));
    TRY(output_path(suite->folder, "tables.md", to));
    TRY(table_files_write(folder, input));
    TRY(text_read_file(&text, from, (size_t)1 << 30));
    return text_write_file(to, text_str(&text), text.n);
}

/* Names in the text may hold line breaks. */
static void put_item(Text *out, const char *text)
{
    text_puts(out, "- ");
    escape_put(out, ESCAPE_LINE, text);
    text_puts(out, "\n");
}

static Status put_summary(Text *out, const PageInput *input)
{
    CLEANUP(json_text_free) json_t *lines = json_array();
    TRY(summary_add(lines, input->files, input->n_files));
    for (size_t i = 0; i < json_array_size(lines); i++)
        put_item(out, json_string_value(json_array_get(lines, i)));
    for (size_t i = 0; i < json_array_size(input->gaps); i++) {
        CLEANUP(text_free) Text missing = {0};
        missing_results_sentence(&missing, json_array_get(input->gaps, i));
        TRY(text_status(&missing));
        put_item(out, text_str(&missing));
    }
    return text_status(out);
}

static Status finish(const Suite *suite, const Files *files, json_t *missing, const char *command,
                     Text *summary)
{
    CLEANUP(json_text_free) json_t *beside = NULL;
    PageInput input = {
        .files = files->list, .n_files = files->n, .gaps = missing, .command = command};
    TRY(add_missing(missing, suite));
    if (files->n == 0) return FAIL(ST_FAILED, "no part left a result; see above why");
    TRY(write_results(suite, files, missing));
    TRY(write_tables(suite, &input));
    TRY(suite_files_list(&beside, suite->folder));
    input.beside = beside;
    TRY(suite_output_page(suite->folder, &input));
    return put_summary(summary, &input);
}

/* A part that ran out of the suite's own budget is missing on the page, but it is no failure. */
static bool is_whole(const Suite *suite, const Files *files)
{
    bool whole = !files->unreadable;
    for (int id = 0; id < SUITE_PARTS; id++) {
        const SuiteState state = suite->parts[id].state;
        whole = whole && (suite_part_is_over(&suite->parts[id]) || state == SUITE_TIMED_OUT);
    }
    return whole;
}

Status suite_finish(const Suite *suite, const char *command_line, Text *summary, bool *whole)
{
    CLEANUP(json_text_free) json_t *missing = json_array();
    CLEANUP(files_free) Files *files = calloc(1, sizeof *files);
    if (!files) return NO_MEMORY("for the results of a suite");
    TRY(read_files(files, suite));
    *whole = is_whole(suite, files);
    return finish(suite, files, missing, command_line, summary);
}
