#include "report/page/page_data.h"

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
            if (!table || json_array_append_new(tables, table))
                return NO_MEMORY("for the data of a page");
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
    PagePart *parts = NULL;
    int n_parts = 0;
    json_t *tables = json_array();
    if (json_object_set_new(root, "tables", tables)) return NO_MEMORY("for the data of a page");
    TRY(page_parts_list(input, &parts, &n_parts));
    Status status = ST_OK;
    for (int i = 0; status == ST_OK && i < n_parts; i++) status = add_part(tables, &parts[i]);
    free(parts);
    return status;
}

/* ---- rows, for the charts ---- */

static Status add_labels(json_t *labels, const RecordSet *rows)
{
    CLEANUP(text_free) Text label = {0};
    int failed = 0;
    bool shown[TABLE_MAX_COLUMNS] = {0};
    result_input_distinct(shown, rows);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        text_clear(&label);
        record_notes_label(&label, shown, record_set_at(rows, i));
        failed |= json_array_append_new(labels, json_text_string(text_str(&label)));
    }
    failed |= label.failed;
    return failed ? NO_MEMORY("for the data of a page") : ST_OK;
}

static Status add_rows(json_t *json, const ResultInput *file)
{
    json_t *rows = json_object(), *labels = json_object();
    int failed = json_object_set_new(json, "rows", rows);
    failed |= json_object_set_new(json, "labels", labels);
    for (int kind = 0; !failed && kind < RESULT_KINDS; kind++) {
        const char *name = result_input_kind_name((ResultKind)kind);
        json_t *own = json_array();
        failed |= json_object_set(rows, name, file->kind[kind].results);
        failed |= json_object_set_new(labels, name, own);
        if (!failed) TRY(add_labels(own, &file->kind[kind]));
    }
    return failed ? NO_MEMORY("for the data of a page") : ST_OK;
}

static Status add_sweep(json_t *list, const char *kind, const GrowthNames *names,
                        const GrowthSweep *sweep)
{
    CLEANUP(text_free) Text text = {0};
    growth_report_sentence(&text, names, sweep);
    Status status = text_status(&text);
    json_t *json = json_pack("{s:s, s:o, s:s}", "kind", kind, "where", growth_json_where(sweep),
                             "text", text_str(&text));
    if (status == ST_OK && json_array_append_new(list, json))
        status = NO_MEMORY("for the data of a page");
    return status;
}

static Status add_sweeps(json_t *list, const ResultInput *file, ResultKind kind)
{
    Growth growth;
    const GrowthNames names = growth_report_names(&file->kind[kind]);
    Status status = growth_make(&growth, &file->kind[kind]);
    for (int s = 0; status == ST_OK && s < growth.n; s++)
        status = add_sweep(list, result_input_kind_name(kind), &names, &growth.sweeps[s]);
    growth_free(&growth);
    return status;
}

/* How times and memory grow, in sentences to stand beside the charts. */
static Status add_growth(json_t *json, const ResultInput *file)
{
    json_t *list = json_array();
    if (json_object_set_new(json, "growth", list)) return NO_MEMORY("for the data of a page");
    TRY(add_sweeps(list, file, RESULT_MODEL));
    return add_sweeps(list, file, RESULT_ATTENTION);
}

/* Every command line that made a row of the file, once. */
typedef struct Commands {
    json_t *list, *told;
} Commands;

static Status tell_command(const Commands *commands, const char *command, const json_t *said,
                           const json_t *environment)
{
    const char *gpu = record_text(environment, "gpu");
    if (json_object_get(commands->told, command)) return ST_OK;
    json_t *json = json_pack("{s:s, s:s?, s:s?}", "command", command, "machine",
                             gpu ? gpu : record_text(environment, "cpu"), "time_utc",
                             record_text(said, "time_utc"));
    const int failed = json_object_set_new(commands->told, command, json_true());
    return json_array_append_new(commands->list, json) || failed
               ? NO_MEMORY("for the data of a page")
               : ST_OK;
}

static Status add_command(const Commands *commands, const json_t *said, const json_t *environment)
{
    const char *command = record_text(said, "command");
    CLEANUP(text_free) Text again = {0};
    if (!command) return ST_OK;
    rerun_command(&again, command);
    TRY(text_status(&again));
    return tell_command(commands, text_str(&again), said, environment);
}

static Status tell_commands(const Commands *commands, const ResultInput *file)
{
    if (!commands->told) return NO_MEMORY("for the data of a page");
    for (size_t i = 0; i < json_array_size(file->rows.environments); i++) {
        const json_t *environment = json_array_get(file->rows.environments, i);
        TRY(add_command(commands, environment, environment));
    }
    for (size_t i = 0; i < record_set_size(&file->rows); i++) {
        const Record *record = record_set_at(&file->rows, i);
        TRY(add_command(commands, record, record_set_environment(&file->rows, record)));
    }
    return ST_OK;
}

static Status add_commands(json_t *json, const ResultInput *file)
{
    const Commands commands = {json_array(), json_object()};
    const Status status = json_object_set_new(json, "commands", commands.list)
                              ? NO_MEMORY("for the data of a page")
                              : tell_commands(&commands, file);
    json_decref(commands.told);
    return status;
}

static Status add_charts(json_t *json, const ResultInput *file)
{
    json_t *timelines = NULL;
    if (file->memory) TRY(page_memory_timelines(&timelines, file->memory));
    int failed = json_object_set_new(json, "memory", timelines ? timelines : json_null());
    failed |= json_object_set(json, "layer", file->layer ? file->layer : json_null());
    return failed ? NO_MEMORY("for the data of a page") : ST_OK;
}

static Status add_files(json_t *root, const ResultInput *files, int n)
{
    json_t *list = json_array();
    if (json_object_set_new(root, "files", list)) return NO_MEMORY("for the data of a page");
    for (int i = 0; i < n; i++) {
        json_t *json = json_object();
        if (json_array_append_new(list, json)) return NO_MEMORY("for the data of a page");
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
    json_t *program = json_object();
    if (json_object_set_new(root, "program", program)) return NO_MEMORY("for the data of a page");
    TRY(record_put_text(program, "version", ROOFSTEP_VERSION));
    TRY(record_put_text(program, "commit", ROOFSTEP_COMMIT));
    return record_put_text(program, "command", command);
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
    return failed ? NO_MEMORY("for the data of a page") : ST_OK;
}

static Status add_summary(json_t *root, const PageInput *input)
{
    json_t *lines = json_array();
    if (json_object_set_new(root, "summary", lines)) return NO_MEMORY("for the data of a page");
    TRY(add_missing(lines, input->gaps)); /* before any figure: what is not there */
    TRY(summary_add(lines, input->files, input->n_files));
    for (const char *line = input->lines; line && *line;) {
        const size_t n = strcspn(line, "\n");
        if (json_array_append_new(lines, json_stringn(line, n)))
            return NO_MEMORY("for the data of a page");
        line += n + (line[n] == '\n');
    }
    return ST_OK;
}

static Status add_gaps(json_t *root, const PageInput *input)
{
    json_t *gaps = json_array();
    if (json_object_set_new(root, "gaps", gaps)) return NO_MEMORY("for the data of a page");
    if (input->gaps && json_array_extend(gaps, input->gaps))
        return NO_MEMORY("for the data of a page");
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
    const Status status = root ? fill(root, input) : NO_MEMORY("for the data of a page");
    if (status != ST_OK) json_decref(root);
    *out = status == ST_OK ? root : NULL;
    return status;
}
