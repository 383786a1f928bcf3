#include "report/format/table.h"

#include "base/array.h"
#include "base/escape.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more element; false, and a table that has failed, when there is no memory. */
static bool room(Table *table, void *array, size_t n, size_t element)
{
    table->failed = table->failed || array_grow(array, n, 1, element) != ST_OK;
    return !table->failed;
}

/* A text that was cut to a length may end within a character. */
static char *copy(Table *table, const char *text)
{
    char *made = text ? strdup(text) : NULL;
    if (text && !made) table->failed = true;
    if (made) escape_repair(made);
    return made;
}

void table_column(Table *table, const char *label, const char *unit, bool right)
{
    if (table->n_columns == TABLE_MAX_COLUMNS) table->failed = true;
    if (table->failed) return;
    CLEANUP(text_free) Text heading = {0};
    text_puts(&heading, label);
    if (*unit) text_printf(&heading, " (%s)", unit);
    table->columns[table->n_columns++] = (TableColumn){copy(table, text_str(&heading)), right};
}

void table_columns(Table *table, int n_left, const char *const *labels)
{
    for (int i = 0; labels[i]; i++) table_column(table, labels[i], "", i >= n_left);
}

static bool is_spare(const Table *table, int column)
{
    for (int i = 0; i < table->n_spare; i++) {
        if (table->spare[i] == column) return true;
    }
    return false;
}

void table_spare(Table *table, const char *const *headings)
{
    for (; *headings && !table->failed; headings++) {
        for (int c = 0; c < table->n_columns; c++) {
            if (strcmp(table->columns[c].label, *headings) != 0 || is_spare(table, c)) continue;
            table->spare[table->n_spare++] = c;
            break; /* the next of that heading is named again */
        }
    }
}

void table_cell(Table *table, const char *text)
{
    if (!room(table, &table->cells, table->n_cells, sizeof *table->cells)) return;
    table->cells[table->n_cells++] = copy(table, text ? text : "-");
}

void table_cells(Table *table, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) table_cell(table, texts[i]);
}

void table_dashes(Table *table, int n)
{
    for (int i = 0; i < n; i++) table_cell(table, NULL);
}

/* A text that failed makes its table fail. */
static const char *string_of(Table *table, const Text *text)
{
    table->failed = table->failed || text->failed;
    return text_str(text);
}

void table_cell_text(Table *table, Text *text)
{
    table_cell(table, string_of(table, text));
    text_free(text);
}

void table_cell_printf(Table *table, const char *fmt, ...)
{
    Text text = {0};
    va_list args;
    va_start(args, fmt);
    text_vprintf(&text, fmt, args);
    va_end(args);
    table_cell_text(table, &text);
}

void table_fact(Table *table, const char *what, const char *fmt, ...)
{
    Text value = {0};
    va_list args;
    va_start(args, fmt);
    text_vprintf(&value, fmt, args);
    va_end(args);
    table_cell(table, what);
    table_cell_text(table, &value);
}

void table_cell_number(Table *table, const char *fmt, double x)
{
    char text[64];
    snprintf(text, sizeof text, fmt, x);
    table_cell(table, isnan(x) ? NULL : text);
}

void table_note_text(Table *table, Text *text)
{
    const char *string = string_of(table, text);
    if (*string) table_note(table, string);
    text_free(text);
}

void table_note_printf(Table *table, const char *fmt, ...)
{
    Text text = {0};
    va_list args;
    va_start(args, fmt);
    text_vprintf(&text, fmt, args);
    va_end(args);
    table_note_text(table, &text);
}

void table_note(Table *table, const char *text)
{
    table_note_code(table, text, NULL);
}

void table_note_code(Table *table, const char *text, const char *code)
{
    if (!room(table, &table->notes, table->n_notes, sizeof *table->notes)) return;
    table->notes[table->n_notes++] = (TableNote){copy(table, text), copy(table, code)};
}

void table_free(Table *table)
{
    for (int c = 0; c < table->n_columns; c++) free(table->columns[c].label);
    for (size_t i = 0; i < table->n_cells; i++) free(table->cells[i]);
    for (size_t i = 0; i < table->n_notes; i++) {
        free(table->notes[i].text);
        free(table->notes[i].code);
    }
    free(table->cells);
    free(table->notes);
    *table = (Table){0};
}

Status table_status(const Table *table)
{
    return table->failed ? NO_MEMORY("for a table") : ST_OK;
}

size_t table_rows(const Table *table)
{
    return table->n_columns ? table->n_cells / (size_t)table->n_columns : 0;
}

const char *table_at(const Table *table, size_t row, int column)
{
    return table->cells[row * (size_t)table->n_columns + (size_t)column];
}

/* The second line of a heading, "(ms)" of "attention a step (ms)"; NULL: there is one line. */
static const char *second_line(const char *label)
{
    enum { LONG = 20 };
    const char *at = strrchr(label, '(');
    return strlen(label) > LONG && at && at - label > 1 && at[-1] == ' ' ? at : NULL;
}

void table_put_heading(Text *out, const char *label, const TableHeading *as)
{
    const char *second = second_line(label);
    CLEANUP(text_free) Text first = {0};
    if (!second) {
        as->put(out, label);
        return;
    }
    text_append(&first, label, (size_t)(second - label) - 1);
    text_puts(out, as->begin);
    as->put(out, text_str(&first));
    text_puts(out, as->between);
    as->put(out, second);
    text_puts(out, as->end);
    out->failed = out->failed || first.failed;
}

/* Small letters and digits, what is between as "-". */
static void put_slug(Text *out, const char *title)
{
    bool between = false;
    for (const char *c = title; *c; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        const bool capital = *c >= 'A' && *c <= 'Z';
        if (letter || capital) {
            if (between) text_puts(out, "-");
            text_append(out, (const char[]){(char)(capital ? *c - 'A' + 'a' : *c)}, 1);
        }
        between = !letter && !capital;
    }
}

void table_put_label(Text *out, const Table *table, const char *begin, const char *end)
{
    CLEANUP(text_free) Text label = {0};
    int n = 0;
    do {
        text_clear(&label);
        text_printf(&label, "%stab:", begin);
        put_slug(&label, table->title);
        if (++n > 1) text_printf(&label, "-%d", n);
        text_puts(&label, end);
    } while (!label.failed && strstr(text_str(out), text_str(&label)));
    text_puts(out, text_str(&label));
    out->failed |= label.failed;
}

void table_put_comments(Text *out, const Table *table, const char *prefix)
{
    for (size_t i = 0; i < table->n_notes; i++) {
        text_puts(out, prefix);
        escape_put(out, ESCAPE_LINE, table->notes[i].text);
        if (table->notes[i].code) {
            text_puts(out, ": ");
            escape_put(out, ESCAPE_LINE, table->notes[i].code);
        }
        text_puts(out, "\n");
    }
}
