#include "report/study/comparison_report.h"

#include "base/human.h"
#include "report/findings/summary.h"
#include "report/format/flat_row.h"
#include "report/format/table_write.h"
#include "report/records/cell_text.h"
#include "report/records/record_notes.h"
#include "report/study/comparison_json.h"
#include "report/study/comparison_worst.h"

#include <math.h>
#include <string.h>

/* ---- differences of the machine and the build ---- */

static void put_value(Table *table, const json_t *value)
{
    Text text = {0};
    if (json_is_null(value)) text_puts(&text, "-");
    flat_row_put(&text, value);
    table_cell_text(table, &text);
}

static void fill_differences(Table *table, const ComparisonReport *report)
{
    const json_t *list = report->comparison->differences;
    table->title = "What differs between the files";
    TABLE_COLUMNS(table, 3, "differs", "A", "B");
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
        table_note(table, "machine, build, libraries and threads are the same");
}

/* ---- the rows ---- */

static void put_median(Table *table, RecordStatus status, double ms)
{
    table_cell(table, status == RECORD_OK             ? human_number(ms, 4).s
                      : status == RECORD_STATUS_COUNT ? "-"
                                                      : cell_text_status(status));
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
    table_cell_number(table, "%+.1f", percent(p->change));
    if (isnan(p->low))
        table_cell(table, "-");
    else
        table_cell_printf(table, "%+.1f .. %+.1f", percent(p->low), percent(p->high));
    table_cell_number(table, p->p >= 0.001 ? "%.3f" : "%.0e", p->p);
    put_verdict(table, p);
}

static void put_rows(Table *table, const Comparison *c, const ColumnSet *shown)
{
    char text[COLUMN_TEXT];
    for (size_t i = 0; i < c->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            if (!c->cells[i].phases[k].present) continue;
            for (int col = 0; col < column_count; col++) {
                if (!shown->has[col]) continue;
                table_cell(table, column_text(&column_list[col], c->cells[i].a, text) ? text : "-");
            }
            put_phase(table, &c->cells[i].phases[k], comparison_phases[k]);
        }
    }
}

static void put_headings(Table *table, const ColumnSet *shown)
{
    for (int col = 0; col < column_count; col++) {
        const Column *column = &column_list[col];
        if (shown->has[col])
            table_column(table, column->label, column->unit, column->kind != COLUMN_WORD);
    }
    table_column(table, "phase", "", false);
    TABLE_COLUMNS(table, 0, "A (ms)", "B (ms)", "change (%)", "95 % interval (%)", "p");
    table_column(table, "verdict", "", false);
    TABLE_SPARE(table, "p", "A (ms)", "B (ms)");
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
    table_note_text(table, &text);
}

/* Row `i` of `n` in a list that names `most`: "small, ctx 128; small, ctx 256 and 3 more". */
static void put_listed(Text *text, const ColumnSet *shown, const Record *record, size_t i, size_t n,
                       size_t most)
{
    if (i > 0 && i < most) text_puts(text, "; ");
    if (i < most) record_notes_label(text, shown, record);
    if (i == most) text_printf(text, " and %zu more", n - most);
}

static ColumnSet choose_columns(const RecordSet *set)
{
    ColumnSet shown = column_distinct(set);
    column_leave_out(&shown, "environment_id");
    return shown;
}

static void note_only(Table *table, const Record **records, size_t n, const char *name,
                      const RecordSet *set)
{
    Text text = {0};
    if (n == 0) return;
    const ColumnSet shown = choose_columns(set);
    text_printf(&text, "only in %s: ", name);
    for (size_t i = 0; i < n; i++) put_listed(&text, &shown, records[i], i, n, 12);
    table_note_text(table, &text);
}

/* "A: small, ctx 128; small, ctx 256" */
static void put_warned(Text *text, const json_t *cells, const RecordSet *set, const char *name,
                       const ColumnSet *shown)
{
    const size_t n = json_array_size(cells);
    if (n > 0) text_printf(text, "%s%s: ", text->n ? "; " : "", name);
    for (size_t i = 0; i < n; i++)
        put_listed(text, shown, record_set_find(set, json_string_value(json_array_get(cells, i))),
                   i, n, 6);
}

/* A warning about either file concerns the comparison: each once, with the rows that have it. */
static void note_warnings(Table *table, const ComparisonReport *report, const ColumnSet *shown)
{
    enum { MOST = 12 };
    const json_t *warnings = report->comparison->warnings;
    const size_t n = json_array_size(warnings);
    for (size_t i = 0; i < n && i < MOST; i++) {
        const json_t *item = json_array_get(warnings, i);
        Text rows = {0};
        put_warned(&rows, json_object_get(item, "a"), report->a, "A", shown);
        put_warned(&rows, json_object_get(item, "b"), report->b, "B", shown);
        table_note_printf(table, "warning: %s: %s", text_str(&rows),
                          json_string_value(json_object_get(item, "warning")));
        table->failed = table->failed || rows.failed;
        text_free(&rows);
    }
    if (n > MOST) table_note_printf(table, "%zu more warnings are in the json", n - MOST);
}

static void note_worst(Table *table, const ComparisonReport *report)
{
    Text text = {0};
    comparison_worst_put(&text, report);
    table_note_text(table, &text);
}

/* A file beside itself, or beside its copy. */
static void note_same(Table *table, const Comparison *c)
{
    int same = 0, judged = 0;
    for (size_t i = 0; i < c->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            same += c->cells[i].phases[k].same_samples;
            judged += c->cells[i].phases[k].verdict != COMPARISON_NONE;
        }
    }
    if (same > 0)
        table_note_printf(table,
                          "%d of %d phases have the same samples in A and B: that is one "
                          "measurement, which says nothing about a change",
                          same, judged);
}

static void note_rule(Table *table, const Comparison *c)
{
    table_note(
        table,
        "A and B are medians; change = B / A - 1, below 0 is faster; interval: Hodges-Lehmann; "
        "p: Mann-Whitney");
    table_note(table,
               "verdict: faster or slower if p <= 0.05 and the change is at least 1 %; same if the "
               "interval is within 1 %, or the samples are the same ones; otherwise unsure: use "
               "more --steps");
    bool few = false;
    for (size_t i = 0; i < c->n_cells; i++) {
        for (int k = 0; k < COMPARISON_PHASES; k++) {
            const ComparisonPhase *p = &c->cells[i].phases[k];
            few = few || (p->verdict != COMPARISON_NONE && isnan(p->low));
        }
    }
    if (few)
        table_note(table, "some rows have too few samples for an interval: use --steps 4 or more");
}

/* ---- both tables ---- */

/* `rows` are the records of A that are compared, `matched` those of both files. Columns follow
 * from one file at a time: the first table has the differences between the files. */
static void fill_rows(Table *table, const ComparisonReport *report, const RecordSet *rows,
                      const RecordSet *matched)
{
    const Comparison *c = report->comparison;
    const ColumnSet shown = choose_columns(rows);
    put_headings(table, &shown);
    put_rows(table, c, &shown);
    record_notes_common(table, matched);
    note_means(table, c);
    note_worst(table, report);
    note_warnings(table, report, &shown);
    note_same(table, c);
    note_only(table, c->only_a, c->n_only_a, "A", report->a);
    note_only(table, c->only_b, c->n_only_b, "B", report->b);
    note_rule(table, c);
}

/* The verdicts, and what became of the last phase that both have: the step, unless --phase took it away. */
static Status conclude(Text *out, const char *format, const Comparison *c)
{
    CLEANUP(text_free) Text text = {0};
    int last = COMPARISON_PHASES - 1;
    text_puts(&text, "B against A");
    summary_put_verdicts(&text, c);
    while (last > 0 && c->n_ratios[last] == 0) last--;
    if (c->n_ratios[last] > 0)
        text_printf(&text, "; %s %+.1f %%", comparison_phases[last],
                    percent(c->mean_ratio[last] - 1));
    text_puts(&text, ".");
    return table_write_conclusion(out, format, &text);
}

static Status write_tables(Text *out, const char *format, const ComparisonReport *report)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    CLEANUP(record_set_free) RecordSet matched = {0};
    CLEANUP(table_free) Table table = {0};
    fill_differences(&table, report);
    TRY(table_write_next(out, format, &table));
    text_puts(out, "\n");
    TRY(record_set_init(&rows, NULL));
    TRY(record_set_init(&matched, NULL));
    for (size_t i = 0; i < report->comparison->n_cells; i++) {
        const char *key = record_key(report->comparison->cells[i].a);
        TRY(record_set_add(&rows, record_set_find(report->a, key)));
        TRY(record_set_add(&matched, record_set_find(report->a, key)));
        TRY(record_set_add(&matched, record_set_find(report->b, key)));
    }
    fill_rows(&table, report, &rows, &matched);
    table.title = "What changed";
    TRY(table_write(out, format, &table)); /* with its notes, if no rows */
    return conclude(out, format, report->comparison);
}

Status comparison_report_write(Text *out, const char *format, const ComparisonReport *report)
{
    if (strcmp(format, "csv") == 0) return comparison_json_csv(out, report);
    if (strcmp(format, "json") == 0) return comparison_json_write(out, report);
    return write_tables(out, format, report);
}
