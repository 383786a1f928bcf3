#include "report/page/page_parts.h"

#include "base/json_text.h"
#include "report/format/flat_row.h"
#include "report/format/table_write.h"
#include "report/page/page_memory.h"
#include "report/profile/profile_tables.h"
#include "report/records/record_table.h"
#include "report/study/comparison_report.h"
#include "report/study/limits_table.h"
#include "report/study/precision_report.h"
#include "report/study/warmup_report.h"

#include <stdlib.h>
#include <string.h>

/* ---- one function per part ---- */

static Status write_rows(Text *out, const char *format, const RecordSet *rows)
{
    const ReportInput input = {.set = rows};
    return record_table_write(out, format, &input);
}

static Status write_kind(Text *out, const char *format, const PagePart *part)
{
    return write_rows(out, format, &part->file->kind[part->number]);
}

static Status write_profile(Text *out, const char *format, const PagePart *part)
{
    const ProfileTables how = {.format = format, .top = 40, .source = true};
    return profile_tables_write(out, &how, &part->file->kind[RESULT_PROFILE]);
}

/* Where every run failed, the rows say why. */
static Status write_warmup(Text *out, const char *format, const PagePart *part)
{
    WarmupStudy study;
    const RecordSet *rows = &part->file->kind[RESULT_WARMUP];
    if (warmup_study_make(&study, rows) != ST_OK) return write_rows(out, format, rows);
    return warmup_report_write(out, format, &study, rows);
}

static Status write_memory(Text *out, const char *format, const PagePart *part)
{
    return page_memory_tables(out, format, part->file->memory);
}

static Status write_precision(Text *out, const char *format, const PagePart *part)
{
    const PrecisionReport report = {.rows = &part->file->kind[RESULT_PRECISION],
                                    .count = part->file->sum_count,
                                    .value = part->file->sum_value};
    return precision_report_write(out, format, &report);
}

static Status write_limits(Text *out, const char *format, const PagePart *part)
{
    Table table = {0};
    limits_table_fill(&table, &part->file->limits);
    return table_write_next(out, format, &table);
}

/* A row for each field that any environment has. */
static void environment_row(Table *table, const json_t *environments, const char *label,
                            const char *path)
{
    CLEANUP(text_free) Text text = {0};
    bool told = false;
    for (size_t i = 0; i < json_array_size(environments); i++) {
        const json_t *value = record_value(json_array_get(environments, i), path);
        told = told || (value && !json_is_null(value));
    }
    if (!told) return;
    table_cell(table, label);
    for (size_t i = 0; i < json_array_size(environments); i++) {
        const json_t *value = record_value(json_array_get(environments, i), path);
        text_clear(&text);
        flat_row_put(&text, value);
        table_cell(table, text.n ? text_str(&text) : "-");
        table->failed = table->failed || text.failed;
    }
}

static Status write_environments(Text *out, const char *format, const json_t *environments)
{
    const size_t n = json_array_size(environments);
    Table table = {0};
    table_column(&table, "environment", "", false);
    for (size_t i = 0; i < n; i++)
        table_column(&table, record_text(json_array_get(environments, i), "id"), "", false);
#define ENVIRONMENT(name, path, type) environment_row(&table, environments, #name, path);
#include "report/format/environment_columns.def"
    environment_row(&table, environments, "measured", "time_utc");
    return table_write_next(out, format, &table);
}

/* Adds each environment once, as far as a table has columns. */
static Status add_environments(json_t *all, json_t *seen, const json_t *more)
{
    int failed = 0;
    for (size_t i = 0; i < json_array_size(more); i++) {
        json_t *environment = json_array_get(more, i);
        const char *id = record_text(environment, "id");
        if (json_object_get(seen, id) || json_array_size(all) == TABLE_MAX_COLUMNS - 1) continue;
        failed |= json_array_append(all, environment) | json_object_set(seen, id, environment);
    }
    return failed ? NO_MEMORY("for the environments") : ST_OK;
}

static Status write_environment(Text *out, const char *format, const PagePart *part)
{
    CLEANUP(json_text_free) json_t *all = json_array();
    CLEANUP(json_text_free) json_t *seen = json_object();
    for (int f = 0; f < part->n_files; f++)
        TRY(add_environments(all, seen, part->files[f].rows.environments));
    return write_environments(out, format, all);
}

static Status write_comparison(Text *out, const char *format, const PagePart *part)
{
    CLEANUP(comparison_free) Comparison comparison;
    const ResultInput *a = part->file, *b = part->other;
    const ComparisonReport report = {&comparison, &a->rows, &b->rows, a->path, b->path};
    TRY(comparison_make(&comparison, &a->rows, &b->rows));
    return comparison_report_write(out, format, &report);
}

/* ---- which parts the files have ---- */

/* A kind without rows of its own has RESULT_KINDS. */
static const struct {
    const char *section, *title;
    ResultKind rows;
    PagePartWrite *write;
} kinds[] = {
    {"end-to-end", "End to end", RESULT_MODEL, write_kind},
    {"attention", "Attention alone", RESULT_ATTENTION, write_kind},
    {"profile", "Profile", RESULT_PROFILE, write_profile},
    {"memory", "Memory", RESULT_KINDS, write_memory},
    {"precision", "Precision", RESULT_KINDS, write_precision},
    {"warmup", "Warm-up", RESULT_WARMUP, write_warmup},
    {"limits", "Measured limits", RESULT_KINDS, write_limits},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool has_kind(const ResultInput *file, int k)
{
    if (kinds[k].rows != RESULT_KINDS) return record_set_size(&file->kind[kinds[k].rows]) > 0;
    if (kinds[k].write == write_memory) return file->memory != NULL;
    return kinds[k].write == write_limits ? file->has_limits : file->sum_count > 0;
}

static int list_comparisons(PagePart *list, const ResultInput *files, int n_files)
{
    int n = 0;
    for (int f = 1; f < n_files; f++) {
        const ResultInput *before = result_input_before(files, f);
        if (!before) continue;
        list[n++] = (PagePart){.section = "comparison",
                               .title = "Comparison",
                               .file = before,
                               .other = &files[f],
                               .write = write_comparison};
    }
    return n;
}

static int list_kind(PagePart *list, const ResultInput *files, int n_files, int k)
{
    int n = 0;
    for (int f = 0; f < n_files; f++) {
        if (!has_kind(&files[f], k)) continue;
        list[n++] = (PagePart){.section = kinds[k].section,
                               .title = kinds[k].title,
                               .file = &files[f],
                               .number = (int)kinds[k].rows,
                               .write = kinds[k].write};
    }
    for (int i = 0; i < n; i++) list[i].several = n > 1;
    return n;
}

Status page_parts_list(const PageInput *input, PagePart **parts, int *n_parts)
{
    const ResultInput *files = input->files;
    const int n_files = input->n_files;
    PagePart *list =
        calloc((size_t)input->n_more + (size_t)n_files * (KINDS + 1) + 1, sizeof *list);
    if (!list) return NO_MEMORY("for the parts of a page");
    int n = 0;
    for (; n < input->n_more; n++) list[n] = input->more[n];
    n += list_comparisons(list + n, files, n_files);
    for (int k = 0; k < KINDS; k++) n += list_kind(list + n, files, n_files, k);
    size_t environments = 0;
    for (int f = 0; f < n_files; f++) environments += json_array_size(files[f].rows.environments);
    if (environments > 0)
        list[n++] = (PagePart){
            .section = "environment", .title = "Environment", .write = write_environment};
    for (int i = 0; i < n; i++) list[i].files = files, list[i].n_files = n_files;
    *parts = list;
    *n_parts = n;
    return ST_OK;
}

void page_parts_name(Text *out, const PagePart *parts, int i)
{
    int number = 1;
    for (int before = 0; before < i; before++) {
        if (strcmp(parts[before].section, parts[i].section) == 0) number++;
    }
    text_puts(out, parts[i].section);
    if (number > 1) text_printf(out, "-%d", number);
}

void page_parts_title(Text *out, const PagePart *part)
{
    text_puts(out, part->title);
    if (part->other)
        text_printf(out, ": %s (A) and %s (B)", result_input_name(part->file),
                    result_input_name(part->other));
    else if (part->file && part->several)
        text_printf(out, ": %s", result_input_name(part->file));
}
