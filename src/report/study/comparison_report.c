#include "report/study/comparison_report.h"

#include "base/human.h"
#include "report/format/flat_row.h"
#include "report/format/table_write.h"
#include "report/records/cell_text.h"
#include "report/records/record_notes.h"
#include "report/study/comparison_data.h"

#include <math.h>
#include <string.h>

/* Adds the note and frees the text. */
static void take_note(Table *table, Text *text)
{
    table->failed = table->failed || text->failed;
    if (text->n) table_note(table, text_str(text), NULL);
    text_free(text);
}

/* ---- what differs around them ---- */

static void put_value(Table *table, const json_t *value)
{
    Text text = {0};
    if (json_is_null(value))
        text_puts(&text, "-");
    else
        flat_row_put(&text, value);
    table_cell_printf(table, "%s", text_str(&text));
    table->failed = table->failed || text.failed;
    text_free(&text);
}

static void fill_differences(Table *table, const ComparisonReport *report)
{
    const json_t *list = report->comparison->differences;
    table_column(table, "differs", "", false);
    table_column(table, "A", "", false);
    table_column(table, "B", "", false);
    table_cell(table, "file");
    table_cell(table, report->path_a);
    table_cell(table, report->path_b);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        table_cell(table, json_string_value(json_object_get(item, "field")));
        put_value(table, json_object_get(item, "a"));
        put_value(table, json_object_get(item, "b"));
    }
    if (json_array_size(list) == 0)
        table_note(table, "machine, build, libraries and threads are the same", NULL);
}

/* ---- the rows ---- */

static void put_median(Table *table, RecordStatus status, double ms)
{
    if (status == RECORD_OK)
        table_cell(table, human_number(ms, 4).s);
    else
        table_cell(table, status == RECORD_STATUS_COUNT ? "-" : cell_text_status(status));
}

static void put_p(Table *table, double p)
{
    if (isnan(p))
        table_cell(table, "-");
    else
        table_cell_printf(table, p >= 0.001 ? "%.3f" : "%.0e", p);
}

static void put_verdict(Table *table, const ComparisonPhase *p)
{
    const bool ok_a = p->status_a == RECORD_OK, ok_b = p->status_b == RECORD_OK;
    if (p->verdict != COMPARISON_NONE)
        table_cell(table, comparison_verdict_word(p->verdict));
    else if (ok_a && ok_b)
        table_cell(table, p->other_mode ? "other mode" : "-");
    else if (ok_a && p->status_b != RECORD_STATUS_COUNT)
        table_cell_printf(table, "%s in B", cell_text_status(p->status_b));
    else if (ok_b && p->status_a != RECORD_STATUS_COUNT)
        table_cell_printf(table, "%s in A", cell_text_status(p->status_a));
    else
        table_cell(table, ok_a ? "not in B" : ok_b ? "not in A" : "-");
}

/* In %, without a minus before 0.0. */
static double percent(double fraction)
{
    return fabs(fraction) < 0.0005 ? 0 : 100 * fraction;
}

static void put_phase(Table *table, const ComparisonPhase *p, const char *name)
{
    table_cell(table, name);
    put_median(table, p->status_a, p->median_a);
    put_median(table, p->status_b, p->median_b);
    if (isnan(p->change))
        table_cell(table, "-");
    else
        table_cell_printf(table, "%+.1f", percent(p->change));
    if (isnan(p->low))
        table_cell(table, "-");
    else
        table_cell_printf(table, "%+.1f .. %+.1f", percent(p->low), percent(p->high));
    put_p(table, p->p);
    put_verdict(table, p);
}

static void put_rows(Table *table, const Comparison *c, const bool *shown)
{
    char text[COLUMN_TEXT];
    for (size_t i = 0; i < c->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            if (!c->cells[i].phases[k].present) continue;
            for (int col = 0; col < column_count; col++) {
                if (!shown[col]) continue;
                table_cell(table, column_text(&column_list[col], c->cells[i].a, text) ? text : "-");
            }
            put_phase(table, &c->cells[i].phases[k], comparison_phases[k]);
        }
    }
}

static void put_headings(Table *table, const bool *shown)
{
    for (int col = 0; col < column_count; col++) {
        const Column *column = &column_list[col];
        if (shown[col])
            table_column(table, column->label, column->unit, column->kind != COLUMN_WORD);
    }
    table_column(table, "phase", "", false);
    table_column(table, "A", "ms", true);
    table_column(table, "B", "ms", true);
    table_column(table, "change", "%", true);
    table_column(table, "95 % interval", "%", true);
    table_column(table, "p", "", true);
    table_column(table, "verdict", "", false);
}

/* ---- the notes ---- */

static void note_means(Table *table, const Comparison *c)
{
    Text text = {0};
    for (int k = 0; k < COMPARISON_PHASES; k++) {
        if (c->n_ratios[k] == 0) continue;
        text_printf(&text, "%s %s %+.1f %% (%d %s)",
                    text.n ? "," : "geometric mean of the changes:", comparison_phases[k],
                    percent(c->mean_ratio[k] - 1), c->n_ratios[k],
                    c->n_ratios[k] == 1 ? "cell" : "cells");
    }
    take_note(table, &text);
}

static void note_only(Table *table, const Record **records, size_t n, const char *name,
                      const bool *shown)
{
    enum { MOST = 12 };
    Text text = {0};
    if (n > 0) text_printf(&text, "only in %s: ", name);
    for (size_t i = 0; i < n && i < MOST; i++) {
        if (i > 0) text_puts(&text, "; ");
        record_notes_label(&text, shown, records[i]);
    }
    if (n > MOST) text_printf(&text, " and %zu more", n - MOST);
    take_note(table, &text);
}

/* "A: small, ctx 128; small, ctx 256" */
static void put_warned(Text *text, const json_t *cells, const RecordSet *set, const char *name,
                       const bool *shown)
{
    enum { MOST = 6 };
    const size_t n = json_array_size(cells);
    if (n > 0) text_printf(text, "%s%s: ", text->n ? "; " : "", name);
    for (size_t i = 0; i < n && i < MOST; i++) {
        if (i > 0) text_puts(text, "; ");
        record_notes_label(text, shown,
                           record_set_find(set, json_string_value(json_array_get(cells, i))));
    }
    if (n > MOST) text_printf(text, " and %zu more", n - MOST);
}

/* What a file warns of holds for what it is compared with, too: each warning once, and whose it is. */
static void note_warnings(Table *table, const ComparisonReport *report, const bool *shown)
{
    enum { MOST = 12 };
    const json_t *warnings = report->comparison->warnings;
    const size_t n = json_array_size(warnings);
    for (size_t i = 0; i < n && i < MOST; i++) {
        const json_t *item = json_array_get(warnings, i);
        Text rows = {0}, text = {0};
        put_warned(&rows, json_object_get(item, "a"), report->a, "A", shown);
        put_warned(&rows, json_object_get(item, "b"), report->b, "B", shown);
        text_printf(&text, "warning: %s: %s", text_str(&rows),
                    json_string_value(json_object_get(item, "warning")));
        table->failed = table->failed || rows.failed;
        text_free(&rows);
        take_note(table, &text);
    }
    Text more = {0};
    if (n > MOST) text_printf(&more, "%zu more warnings are in the json", n - MOST);
    take_note(table, &more);
}

static bool has_too_few(const Comparison *c)
{
    for (size_t i = 0; i < c->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            const ComparisonPhase *p = &c->cells[i].phases[k];
            if (p->verdict != COMPARISON_NONE && isnan(p->low)) return true;
        }
    }
    return false;
}

static void note_rule(Table *table, const Comparison *c)
{
    table_note(
        table,
        "A and B are medians; change = B / A - 1, below 0 is faster; interval: Hodges-Lehmann; "
        "p: Mann-Whitney",
        NULL);
    table_note(table,
               "verdict: faster or slower if p <= 0.05 and the change is at least 1 %; same if the "
               "interval "
               "is within 1 %; otherwise unsure: use more --steps",
               NULL);
    if (has_too_few(c))
        table_note(table, "some rows have too few samples for an interval: use --steps 4 or more",
                   NULL);
}

/* ---- all of it ---- */

static void choose_columns(bool *shown, const RecordSet *set)
{
    for (int col = 0; col < column_count; col++) {
        const Column *column = &column_list[col];
        shown[col] = column->identity && strcmp(column->path, "environment_id") != 0 &&
                     column_shown(column, set, false);
    }
}

/* `rows` are the records of A that are compared, `matched` those of both. What sets rows apart is asked
 * of one file at a time: what sets the files apart is in the first table. */
static void fill_rows(Table *table, const ComparisonReport *report, const RecordSet *rows,
                      const RecordSet *matched)
{
    const Comparison *c = report->comparison;
    bool shown[TABLE_MAX_COLUMNS] = {0};
    choose_columns(shown, rows);
    put_headings(table, shown);
    put_rows(table, c, shown);
    record_notes_common(table, matched);
    note_means(table, c);
    note_warnings(table, report, shown);
    choose_columns(shown, report->a);
    note_only(table, c->only_a, c->n_only_a, "A", shown);
    choose_columns(shown, report->b);
    note_only(table, c->only_b, c->n_only_b, "B", shown);
    note_rule(table, c);
}

static Status gather(RecordSet *rows, RecordSet *matched, const ComparisonReport *report)
{
    const Comparison *c = report->comparison;
    for (size_t i = 0; i < c->n_cells; i++) {
        const char *key = record_key(c->cells[i].a);
        TRY(record_set_add(rows, record_set_find(report->a, key)));
        TRY(record_set_add(matched, record_set_find(report->a, key)));
        TRY(record_set_add(matched, record_set_find(report->b, key)));
    }
    return ST_OK;
}

static Status write_both(Text *out, const char *format, const ComparisonReport *report,
                         const RecordSet *rows, const RecordSet *matched)
{
    Table table = {0};
    fill_differences(&table, report);
    TRY(table_write_next(out, format, &table));
    text_puts(out, "\n");
    fill_rows(&table, report, rows, matched);
    const Status status = table_write(out, format, &table); /* its notes matter without rows too */
    table_free(&table);
    return status;
}

static Status write_tables(Text *out, const char *format, const ComparisonReport *report)
{
    RecordSet rows = {0}, matched = {0};
    Status status = record_set_init(&rows, NULL);
    if (status == ST_OK) status = record_set_init(&matched, NULL);
    if (status == ST_OK) status = gather(&rows, &matched, report);
    if (status == ST_OK) status = write_both(out, format, report, &rows, &matched);
    record_set_free(&rows);
    record_set_free(&matched);
    return status;
}

Status comparison_report_write(Text *out, const char *format, const ComparisonReport *report)
{
    if (strcmp(format, "json") == 0) return comparison_data_json(out, report);
    if (strcmp(format, "csv") == 0) return comparison_data_csv(out, report);
    return write_tables(out, format, report);
}
