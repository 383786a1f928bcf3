#include "base/array.h"
#include "base/json_text.h"
#include "plan/plan.h"
#include "report/findings/missing_results.h"
#include "report/findings/summary.h"
#include "report/page/page.h"
#include "report/page/page_comparison.h"
#include "report/page/page_memory.h"
#include "report/records/growth_report.h"
#include "report/records/record_notes.h"
#include "report/records/rerun_command.h"
#include "version.h"

#include <string.h>

static Status no_memory(void)
{
    return NO_MEMORY("for the data of a page");
}

/* ---- tables ---- */

/* "Where the time goes, tiny fp32: run.json". */
static json_t *title_json(const json_t *table, const PagePart *part)
{
    CLEANUP(text_free) Text title = {0};
    page_parts_title_of(&title, part, json_string_value(json_object_get(table, "title")));
    return text_status(&title) == ST_OK ? json_text_string(text_str(&title)) : NULL;
}

static Status add_part(json_t *tables, const PagePart *part)
{
    CLEANUP(text_free) Text lines = {0};
    TRY(part->write(&lines, "page", part));
    for (const char *line = text_str(&lines); *line;) {
        const size_t n = strcspn(line, "\n");
        if (n > 0) {
            json_t *table = json_loadb(line, n, 0, NULL);
            if (!table || json_array_append_new(tables, table) ||
                json_object_set_new(table, "title", title_json(table, part)) ||
                json_object_set_new(table, "section", json_string(part->section)))
                return no_memory();
        }
        line += n + (line[n] == '\n');
    }
    return ST_OK;
}

static Status add_tables(json_t *tables, const PageInput *input)
{
    CLEANUP(array_free) PagePart *parts = NULL;
    int n_parts = 0;
    TRY(page_parts_list(input, &parts, &n_parts));
    for (int i = 0; i < n_parts; i++) TRY(add_part(tables, &parts[i]));
    return ST_OK;
}

/* ---- rows, for the charts ---- */

/* A new array; NULL: no memory. */
static json_t *labels_json(const RecordSet *rows)
{
    json_t *labels = json_array();
    CLEANUP(text_free) Text label = {0};
    int failed = 0;
    const ColumnSet shown = result_input_distinct(rows);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        text_clear(&label);
        record_notes_label(&label, &shown, record_set_at(rows, i));
        failed |= json_array_append_new(labels, json_text_string(text_str(&label)));
    }
    failed |= label.failed;
    if (failed) json_decref(labels);
    return failed ? NULL : labels;
}

static Status add_rows(json_t *json, const ResultInput *file)
{
    json_t *rows = json_object_get(json, "rows"), *labels = json_object_get(json, "labels");
    for (int kind = 0; kind < RESULT_KINDS; kind++) {
        const char *name = result_input_kind_name((ResultKind)kind);
        if (json_object_set(rows, name, file->kind[kind].results) ||
            json_object_set_new(labels, name, labels_json(&file->kind[kind])))
            return no_memory();
    }
    return ST_OK;
}

/* How times and memory grow, in sentences to stand beside the charts. */
static Status add_growth(json_t *list, const ResultInput *file, ResultKind kind)
{
    CLEANUP(growth_free) Growth growth = {0};
    CLEANUP(text_free) Text text = {0};
    const ColumnSet names = column_distinct(&file->kind[kind]);
    TRY(growth_make(&growth, &file->kind[kind]));
    for (int s = 0; s < growth.n; s++) {
        text_clear(&text);
        growth_report_sentence(&text, &names, &growth.sweeps[s]);
        TRY(text_status(&text));
        json_t *json = json_pack("{s:s, s:o, s:s}", "kind", result_input_kind_name(kind), "where",
                                 growth_json_where(&growth.sweeps[s]), "text", text_str(&text));
        if (json_array_append_new(list, json)) return no_memory();
    }
    return ST_OK;
}

/* Adds the command that made some rows, once. `said` has it: a record, or its environment. */
static Status add_command(json_t *commands, const json_t *said, const json_t *environment)
{
    const char *command = record_text(said, "command"), *gpu = record_text(environment, "gpu");
    CLEANUP(text_free) Text again = {0};
    if (!command) return ST_OK;
    rerun_command(&again, command);
    TRY(text_status(&again));
    if (json_object_get(commands, text_str(&again))) return ST_OK;
    json_t *json = json_pack("{s:s, s:s?, s:s?}", "command", text_str(&again), "machine",
                             gpu ? gpu : record_text(environment, "cpu"), "time_utc",
                             record_text(said, "time_utc"));
    return json_object_set_new(commands, text_str(&again), json) ? no_memory() : ST_OK;
}

static Status add_commands(json_t *list, const RecordSet *rows)
{
    CLEANUP(json_text_free) json_t *commands = json_object();
    const char *name;
    json_t *command;
    int failed = 0;
    for (size_t i = 0; i < json_array_size(rows->environments); i++) {
        const json_t *environment = json_array_get(rows->environments, i);
        TRY(add_command(commands, environment, environment));
    }
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *record = record_set_at(rows, i);
        TRY(add_command(commands, record, record_set_environment(rows, record)));
    }
    json_object_foreach(commands, name, command) failed |= json_array_append(list, command);
    return failed ? no_memory() : ST_OK;
}

/* The rates of all cores that ops can be held against; null in a file without limits. */
static json_t *limits_json(const ResultInput *file)
{
    if (!file->has_limits) return json_null();
    json_t *rates = json_array();
    for (int id = 0; id < LIMIT_COUNT; id++) {
        const LimitsRate *rate = &file->limits.rate[id][LIMITS_ALL];
        const LimitsKind kind = limits_names[id].kind;
        const bool is_memory = kind == LIMITS_MEMORY, is_cache = kind == LIMITS_CACHE;
        if (rate->n == 0 || !(is_memory || is_cache || kind == LIMITS_MATMUL)) continue;
        json_array_append_new(rates,
                              json_pack("{s:s, s:s, s:b, s:b, s:f}", "name", limits_names[id].name,
                                        "label", limits_names[id].label, "is_memory", is_memory,
                                        "is_cache", is_cache, "rate", rate->max));
    }
    const LimitsDeviceName name = limits_device_name(&file->limits);
    return json_pack("{s:o, s:o}", "device", json_text_string(name.s), "rates", rates);
}

static Status add_file(json_t *files, const ResultInput *file)
{
    json_t *timelines = NULL;
    json_t *json = json_pack("{s:o, s:{}, s:{}, s:[], s:[], s:n, s:o, s:O?, s:O?, s:O?}", "name",
                             json_text_string(result_input_name(file)), "rows", "labels", "growth",
                             "commands", "memory", "limits", limits_json(file), "layer",
                             file->layer, "step", file->step, "forecasts", file->forecasts);
    if (json_array_append_new(files, json)) return no_memory();
    TRY(add_rows(json, file));
    TRY(add_growth(json_object_get(json, "growth"), file, RESULT_MODEL));
    TRY(add_growth(json_object_get(json, "growth"), file, RESULT_ATTENTION));
    TRY(add_commands(json_object_get(json, "commands"), &file->rows));
    if (!file->memory) return ST_OK;
    TRY(page_memory_timelines(&timelines, file->memory));
    return json_object_set_new(json, "memory", timelines) ? no_memory() : ST_OK;
}

/* ---- all of it ---- */

static Status add_summary(json_t *lines, const PageInput *input)
{
    CLEANUP(text_free) Text text = {0};
    for (size_t i = 0; i < json_array_size(input->gaps); i++) { /* before any figure */
        missing_results_sentence(&text, json_array_get(input->gaps, i));
        TRY(json_text_append(lines, &text));
    }
    TRY(summary_add(lines, input->files, input->n_files));
    for (const char *line = input->lines; line && *line;) {
        const size_t n = strcspn(line, "\n");
        if (json_array_append_new(lines, json_stringn(line, n))) return no_memory();
        line += n + (line[n] == '\n');
    }
    return ST_OK;
}

/* What can be done first, and which categories the rate of matrix multiplications bounds. */
static Status add_advice(json_t *root, const PageInput *input)
{
    json_t *advice = NULL, *bound = json_array();
    TRY(advice_json(&advice, input->files, input->n_files));
    if (json_object_set_new(root, "advice", advice)) return no_memory();
    for (int c = 0; c < CATEGORY_COUNT; c++) {
        if (plan_category_multiplies((OpCategory)c))
            json_array_append_new(bound, json_string(plan_category_name((OpCategory)c)));
    }
    return json_object_set_new(root, "multiplies", bound) ? no_memory() : ST_OK;
}

Status page_data_make(json_t **out, const PageInput *input)
{
    CLEANUP(json_text_free)
    json_t *root =
        json_pack("{s:{s:s, s:s, s:o}, s:[], s:[], s:[], s:[]}", "program", "version",
                  ROOFSTEP_VERSION, "commit", ROOFSTEP_COMMIT, "command",
                  json_text_string(input->command), "summary", "gaps", "files", "tables");
    json_t *gaps = json_object_get(root, "gaps"), *comparisons = NULL;
    *out = NULL;
    if (!root || (input->gaps && json_array_extend(gaps, input->gaps))) return no_memory();
    TRY(add_summary(json_object_get(root, "summary"), input));
    if (input->beside && json_object_set(root, "beside", input->beside)) return no_memory();
    TRY(add_advice(root, input));
    TRY(page_comparison_json(&comparisons, input->files, input->n_files));
    if (json_object_set_new(root, "comparisons", comparisons)) return no_memory();
    TRY(missing_results_add(gaps, input->files, input->n_files));
    for (int i = 0; i < input->n_files; i++)
        TRY(add_file(json_object_get(root, "files"), &input->files[i]));
    TRY(add_tables(json_object_get(root, "tables"), input));
    *out = json_incref(root);
    return ST_OK;
}
