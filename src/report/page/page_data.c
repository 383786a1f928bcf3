#include "report/page/page_data.h"

#include "base/array.h"
#include "base/json_text.h"
#include "report/findings/missing_results.h"
#include "report/findings/summary.h"
#include "report/page/page_memory.h"
#include "report/page/page_parts.h"
#include "report/records/growth_report.h"
#include "report/records/record_notes.h"
#include "report/records/rerun_command.h"
#include "version.h"

#include <stdlib.h>
#include <string.h>

/* A new array or object under a name of `object`, which owns it. NULL: no memory. */
static json_t *put_new(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0 ? value : NULL;
}

static Status no_memory(void)
{
    return NO_MEMORY("for the data of a page");
}

/* ---- tables ---- */

static Status add_title(json_t *table, const PagePart *part)
{
    CLEANUP(text_free) Text title = {0};
    page_parts_title(&title, part);
    TRY(text_status(&title));
    TRY(record_put_text(table, "title", text_str(&title)));
    return record_put_text(table, "section", part->section);
}

static Status add_lines(json_t *tables, const char *lines, const PagePart *part)
{
    for (const char *line = lines; *line;) {
        const size_t n = strcspn(line, "\n");
        if (n > 0) {
            json_t *table = json_loadb(line, n, 0, NULL);
            if (!table || json_array_append_new(tables, table)) return no_memory();
            TRY(add_title(table, part));
        }
        line += n + (line[n] == '\n');
    }
    return ST_OK;
}

static Status add_part(json_t *tables, const PagePart *part)
{
    CLEANUP(text_free) Text lines = {0};
    TRY(part->write(&lines, "page", part));
    return add_lines(tables, text_str(&lines), part);
}

static Status add_tables(json_t *root, const PageInput *input)
{
    CLEANUP(array_free) PagePart *parts = NULL;
    int n_parts = 0;
    json_t *tables = put_new(root, "tables", json_array());
    if (!tables) return no_memory();
    TRY(page_parts_list(input, &parts, &n_parts));
    for (int i = 0; i < n_parts; i++) TRY(add_part(tables, &parts[i]));
    return ST_OK;
}

/* ---- rows, for the charts ---- */

static Status add_labels(json_t *labels, const RecordSet *rows)
{
    CLEANUP(text_free) Text label = {0};
    int failed = 0;
    const ColumnSet shown = result_input_distinct(rows);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        text_clear(&label);
        record_notes_label(&label, &shown, record_set_at(rows, i));
        failed |= json_array_append_new(labels, json_text_string(text_str(&label)));
    }
    failed |= label.failed;
    return failed ? no_memory() : ST_OK;
}

static Status add_rows(json_t *json, const ResultInput *file)
{
    json_t *rows = put_new(json, "rows", json_object());
    json_t *labels = put_new(json, "labels", json_object());
    for (int kind = 0; kind < RESULT_KINDS; kind++) {
        const char *name = result_input_kind_name((ResultKind)kind);
        json_t *own = put_new(labels, name, json_array());
        if (!own || json_object_set(rows, name, file->kind[kind].results)) return no_memory();
        TRY(add_labels(own, &file->kind[kind]));
    }
    return ST_OK;
}

static Status add_sweep(json_t *list, const char *kind, const ColumnSet *names,
                        const GrowthSweep *sweep)
{
    CLEANUP(text_free) Text text = {0};
    growth_report_sentence(&text, names, sweep);
    TRY(text_status(&text));
    json_t *json = json_pack("{s:s, s:o, s:s}", "kind", kind, "where", growth_json_where(sweep),
                             "text", text_str(&text));
    return json_array_append_new(list, json) ? no_memory() : ST_OK;
}

static Status add_sweeps(json_t *list, const ResultInput *file, ResultKind kind)
{
    CLEANUP(growth_free) Growth growth = {0};
    const ColumnSet names = column_distinct(&file->kind[kind]);
    TRY(growth_make(&growth, &file->kind[kind]));
    for (int s = 0; s < growth.n; s++)
        TRY(add_sweep(list, result_input_kind_name(kind), &names, &growth.sweeps[s]));
    return ST_OK;
}

/* How times and memory grow, in sentences to stand beside the charts. */
static Status add_growth(json_t *json, const ResultInput *file)
{
    json_t *list = put_new(json, "growth", json_array());
    if (!list) return no_memory();
    TRY(add_sweeps(list, file, RESULT_MODEL));
    return add_sweeps(list, file, RESULT_ATTENTION);
}

/* The commands that made the rows of a file, each once. */
typedef struct Commands {
    json_t *list, *seen;
} Commands;

/* `said` has the command: a record, or its environment. */
static Status add_command(const Commands *commands, const json_t *said, const json_t *environment)
{
    const char *command = record_text(said, "command"), *gpu = record_text(environment, "gpu");
    CLEANUP(text_free) Text again = {0};
    if (!command) return ST_OK;
    rerun_command(&again, command);
    TRY(text_status(&again));
    if (json_object_get(commands->seen, text_str(&again))) return ST_OK;
    json_t *json = json_pack("{s:s, s:s?, s:s?}", "command", text_str(&again), "machine",
                             gpu ? gpu : record_text(environment, "cpu"), "time_utc",
                             record_text(said, "time_utc"));
    const int failed = json_object_set_new(commands->seen, text_str(&again), json_true());
    return json_array_append_new(commands->list, json) || failed ? no_memory() : ST_OK;
}

static Status add_commands(json_t *json, const ResultInput *file)
{
    CLEANUP(json_text_free) json_t *seen = json_object();
    const Commands commands = {put_new(json, "commands", json_array()), seen};
    if (!commands.list || !seen) return no_memory();
    for (size_t i = 0; i < json_array_size(file->rows.environments); i++) {
        const json_t *environment = json_array_get(file->rows.environments, i);
        TRY(add_command(&commands, environment, environment));
    }
    for (size_t i = 0; i < record_set_size(&file->rows); i++) {
        const Record *record = record_set_at(&file->rows, i);
        TRY(add_command(&commands, record, record_set_environment(&file->rows, record)));
    }
    return ST_OK;
}

static Status add_charts(json_t *json, const ResultInput *file)
{
    json_t *timelines = NULL;
    if (file->memory) TRY(page_memory_timelines(&timelines, file->memory));
    int failed = json_object_set_new(json, "memory", timelines ? timelines : json_null());
    failed |= json_object_set(json, "layer", file->layer ? file->layer : json_null());
    return failed ? no_memory() : ST_OK;
}

static Status add_files(json_t *root, const ResultInput *files, int n)
{
    json_t *list = put_new(root, "files", json_array());
    for (int i = 0; i < n; i++) {
        json_t *json = json_object();
        if (json_array_append_new(list, json)) return no_memory();
        TRY(record_put_text(json, "name", result_input_name(&files[i])));
        TRY(add_rows(json, &files[i]));
        TRY(add_growth(json, &files[i]));
        TRY(add_commands(json, &files[i]));
        TRY(add_charts(json, &files[i]));
    }
    return ST_OK;
}

/* ---- all of it ---- */

static Status add_program(json_t *root, const char *command)
{
    TRY(record_put_text(root, "program.version", ROOFSTEP_VERSION));
    TRY(record_put_text(root, "program.commit", ROOFSTEP_COMMIT));
    return record_put_text(root, "program.command", command);
}

static Status add_missing(json_t *lines, const json_t *gaps)
{
    CLEANUP(text_free) Text line = {0};
    int failed = 0;
    for (size_t i = 0; i < json_array_size(gaps); i++) {
        const json_t *gap = json_array_get(gaps, i);
        text_clear(&line);
        missing_results_sentence(&line, gap);
        failed |= json_array_append_new(lines, json_text_string(text_str(&line)));
    }
    failed |= line.failed;
    return failed ? no_memory() : ST_OK;
}

static Status add_summary(json_t *root, const PageInput *input)
{
    json_t *lines = put_new(root, "summary", json_array());
    if (!lines) return no_memory();
    TRY(add_missing(lines, input->gaps)); /* before any figure: what is not there */
    TRY(summary_add(lines, input->files, input->n_files));
    for (const char *line = input->lines; line && *line;) {
        const size_t n = strcspn(line, "\n");
        if (json_array_append_new(lines, json_stringn(line, n))) return no_memory();
        line += n + (line[n] == '\n');
    }
    return ST_OK;
}

static Status add_gaps(json_t *root, const PageInput *input)
{
    json_t *gaps = put_new(root, "gaps", json_array());
    if (!gaps || (input->gaps && json_array_extend(gaps, input->gaps))) return no_memory();
    return missing_results_add(gaps, input->files, input->n_files);
}

static Status fill(json_t *root, const PageInput *input)
{
    TRY(add_program(root, input->command));
    TRY(add_summary(root, input));
    TRY(add_gaps(root, input));
    TRY(add_files(root, input->files, input->n_files));
    return add_tables(root, input);
}

Status page_data_make(json_t **out, const PageInput *input)
{
    json_t *root = json_object();
    const Status status = root ? fill(root, input) : no_memory();
    if (status != ST_OK) json_decref(root);
    *out = status == ST_OK ? root : NULL;
    return status;
}
