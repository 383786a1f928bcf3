#include "report/page/page_parts.h"

#include "base/json_text.h"
#include "report/format/flat_row.h"
#include "report/format/table_write.h"
#include "report/page/page_memory.h"
#include "report/profile/profile_tables.h"
#include "report/records/record_table.h"
#include "report/study/collective_report.h"
#include "report/study/comparison_report.h"
#include "report/study/curve_report.h"
#include "report/study/forecast_report.h"
#include "report/study/limits_table.h"
#include "report/study/precision_report.h"
#include "report/study/warmup_report.h"

#include <stdlib.h>
#include <string.h>

/* ---- one function per part ---- */

static Status write_rows(Text *out, const char *format, const PagePart *part)
{
    return record_table_write(out, format, &(ReportInput){.set = part->rows});
}

static Status write_profile(Text *out, const char *format, const PagePart *part)
{
    const ProfileTables how = {.format = format, .top = 40, .source = true};
    return profile_tables_write(out, &how, part->rows);
}

/* Where every run failed, the rows say why. */
static Status write_warmup(Text *out, const char *format, const PagePart *part)
{
    WarmupStudy study;
    if (warmup_study_make(&study, part->rows) != ST_OK) return write_rows(out, format, part);
    return warmup_report_write(out, format, &study, part->rows);
}

static Status write_memory(Text *out, const char *format, const PagePart *part)
{
    return page_memory_tables(out, format, part->file->memory);
}

static Status write_precision(Text *out, const char *format, const PagePart *part)
{
    const PrecisionReport report = {part->rows, part->file->sum_count, part->file->sum_value};
    return precision_report_write(out, format, &report);
}

static Status write_curves(Text *out, const char *format, const PagePart *part)
{
    return curve_report_write(out, format, part->rows);
}

static Status write_collective(Text *out, const char *format, const PagePart *part)
{
    return collective_report_write(out, format, part->rows);
}

static Status write_forecasts(Text *out, const char *format, const PagePart *part)
{
    return forecast_report_write(out, format, part->file->forecasts);
}

static Status write_limits(Text *out, const char *format, const PagePart *part)
{
    Table table = {0};
    limits_table_fill(&table, &part->file->limits);
    return table_write_next(out, format, &table);
}

/* A row for each field that any environment has. */
static void environment_row(Table *table, json_t *environments, const char *label, const char *path)
{
    const char *id;
    const json_t *environment;
    bool told = false;
    json_object_foreach(environments, id, environment)
    {
        const json_t *value = record_value(environment, path);
        told = told || (value && !json_is_null(value));
    }
    if (!told) return;
    table_cell(table, label);
    json_object_foreach(environments, id, environment)
    {
        Text text = {0};
        flat_row_put(&text, record_value(environment, path));
        if (text.n == 0) text_puts(&text, "-");
        table_cell_text(table, &text);
    }
}

/* Each environment once, as far as a table has columns. */
static Status write_environments(Text *out, const char *format, const PagePart *part)
{
    CLEANUP(json_text_free) json_t *all = json_object();
    Table table = {0};
    table.title = "The machines and builds";
    table_column(&table, "environment", "", false);
    for (int f = 0; f < part->n_files; f++) {
        const json_t *more = part->files[f].rows.environments;
        for (size_t i = 0; i < json_array_size(more); i++) {
            const char *id = record_text(json_array_get(more, i), "id");
            if (!id || json_object_get(all, id) || table.n_columns == TABLE_MAX_COLUMNS) continue;
            table_column(&table, id, "", false);
            if (json_object_set(all, id, json_array_get(more, i))) table.failed = true;
        }
    }
#define ENVIRONMENT(name, path, type) environment_row(&table, all, #name, path);
#include "report/format/environment_columns.def"
    environment_row(&table, all, "measured", "time_utc");
    return table_write_next(out, format, &table);
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

/* What a file must have for a part of it. */
typedef enum Need { NEED_ROWS, NEED_SUMS, NEED_MEMORY, NEED_FORECASTS, NEED_LIMITS } Need;

static const struct {
    const char *section, *title;
    Need need;
    ResultKind rows; /* RESULT_KINDS: none */
    PagePartWrite *write;
} kinds[] = {
    {"end-to-end", "End to end", NEED_ROWS, RESULT_MODEL, write_rows},
    {"attention", "Attention alone", NEED_ROWS, RESULT_ATTENTION, write_rows},
    {"profile", "Profile", NEED_ROWS, RESULT_PROFILE, write_profile},
    {"memory", "Memory", NEED_MEMORY, RESULT_KINDS, write_memory},
    {"precision", "Precision", NEED_SUMS, RESULT_PRECISION, write_precision},
    {"curve", "Loss curves", NEED_ROWS, RESULT_CURVE, write_curves},
    {"warmup", "Warm-up", NEED_ROWS, RESULT_WARMUP, write_warmup},
    {"collective", "Collectives", NEED_ROWS, RESULT_COLLECTIVE, write_collective},
    {"forecast", "Forecasts", NEED_FORECASTS, RESULT_KINDS, write_forecasts},
    {"limits", "Measured limits", NEED_LIMITS, RESULT_KINDS, write_limits},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool has_kind(const ResultInput *file, int k)
{
    switch (kinds[k].need) {
    case NEED_SUMS:
        return file->sum_count > 0;
    case NEED_MEMORY:
        return file->memory != NULL;
    case NEED_FORECASTS:
        return json_array_size(file->forecasts) > 0;
    case NEED_LIMITS:
        return file->has_limits;
    default:
        return record_set_size(&file->kind[kinds[k].rows]) > 0;
    }
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
        const ResultKind rows = kinds[k].rows;
        list[n++] = (PagePart){.section = kinds[k].section,
                               .title = kinds[k].title,
                               .file = &files[f],
                               .rows = rows < RESULT_KINDS ? &files[f].kind[rows] : NULL,
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
            .section = "environment", .title = "Environment", .write = write_environments};
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

/* ", tiny fp32" where all is about one cell. */
static void put_cell(Text *out, const RecordSet *rows)
{
    const Record *record = rows && record_set_size(rows) == 1 ? record_set_at(rows, 0) : NULL;
    const char *size = record ? record_text(record, "size") : NULL;
    const char *precision = record ? record_text(record, "precision") : NULL;
    if (size && precision) text_printf(out, ", %s %s", size, precision);
}

void page_parts_title(Text *out, const PagePart *part)
{
    page_parts_title_of(out, part, part->title);
}

void page_parts_title_of(Text *out, const PagePart *part, const char *words)
{
    text_puts(out, words);
    if (words != part->title) put_cell(out, part->rows);
    if (part->other)
        text_printf(out, ": %s (A) and %s (B)", result_input_name(part->file),
                    result_input_name(part->other));
    else if (part->file && part->several)
        text_printf(out, ": %s", result_input_name(part->file));
}
