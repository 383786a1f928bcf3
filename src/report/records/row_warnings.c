#include "report/records/row_warnings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the numbers in a text ---- */

static const struct {
    const char *name;
    double seconds;
} units[] = {{" ns", 1e-9}, {" us", 1e-6}, {" ms", 1e-3}, {" s", 1}, {" min", 60}, {" h", 3600}};

/* The unit of time after a number: its length in characters, and its seconds. */
static size_t unit_at(const char *at, double *seconds)
{
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        const size_t n = strlen(units[u].name);
        if (strncmp(at, units[u].name, n) != 0 || isalnum((unsigned char)at[n])) continue;
        *seconds = units[u].seconds;
        return n;
    }
    *seconds = 1;
    return 0;
}

/* One number and the unit of time behind it, if `at` begins with one: its length and value. A
 * digit within a word, as in fp32, is no number. */
static size_t number_at(const char *text, const char *at, double *value)
{
    char *end = NULL;
    double seconds;
    if (!isdigit((unsigned char)*at)) return 0;
    if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '.')) return 0;
    *value = strtod(at, &end);
    const size_t unit = unit_at(end, &seconds);
    *value *= seconds;
    return (size_t)(end - at) + unit;
}

/* Do they differ in their numbers only? */
static bool same_kind(const char *a, const char *b)
{
    const char *const a0 = a, *const b0 = b;
    while (*a && *b) {
        double x, y;
        const size_t in_a = number_at(a0, a, &x), in_b = number_at(b0, b, &y);
        if ((in_a > 0) != (in_b > 0)) return false;
        if (in_a == 0 && *a != *b) return false;
        a += in_a ? in_a : 1;
        b += in_b ? in_b : 1;
    }
    return !*a && !*b;
}

/* ---- kinds ---- */

static void take_number(WarningNumber *slot, bool first, double value, const char *at, size_t n)
{
    if (first || value < slot->least) {
        slot->least = value;
        snprintf(slot->least_text, sizeof slot->least_text, "%.*s", (int)n, at);
    }
    if (first || value > slot->most) {
        slot->most = value;
        snprintf(slot->most_text, sizeof slot->most_text, "%.*s", (int)n, at);
    }
}

static void take_numbers(WarningKind *kind, const char *text)
{
    const bool first = kind->text == text;
    int slot = 0;
    for (const char *at = text; *at && slot < ROW_WARNINGS_NUMBERS;) {
        double value;
        const size_t n = number_at(text, at, &value);
        if (n) take_number(&kind->numbers[slot++], first, value, at, n);
        at += n ? n : 1;
    }
}

static int find_kind(const RowWarnings *w, const char *text)
{
    for (int k = 0; k < w->n; k++) {
        if (same_kind(w->kinds[k].text, text)) return k;
    }
    return -1;
}

static void add(RowWarnings *w, const char *text)
{
    int k = find_kind(w, text);
    if (k < 0 && w->n == ROW_WARNINGS_KINDS) {
        w->more = true;
        return;
    }
    if (k < 0) {
        k = w->n++;
        w->kinds[k] = (WarningKind){.text = text};
    }
    take_numbers(&w->kinds[k], text);
}

void row_warnings_find(RowWarnings *w, const RecordSet *set)
{
    *w = (RowWarnings){0};
    for (size_t i = 0; i < record_set_size(set); i++) {
        const json_t *list = record_value(record_set_at(set, i), "warnings");
        for (size_t k = 0; k < json_array_size(list); k++) {
            const char *text = json_string_value(json_array_get(list, k));
            if (text) add(w, text);
        }
    }
}

/* ---- what is shown ---- */

static bool has_kind(const Record *row, const WarningKind *kind)
{
    const json_t *list = record_value(row, "warnings");
    for (size_t k = 0; k < json_array_size(list); k++) {
        const char *text = json_string_value(json_array_get(list, k));
        if (text && same_kind(kind->text, text)) return true;
    }
    return false;
}

void row_warnings_mark(const RowWarnings *w, const Record *row, Text *out)
{
    const char *before = " (";
    for (int k = 0; k < w->n; k++) {
        if (!has_kind(row, &w->kinds[k])) continue;
        text_printf(out, "%s%d", before, k + 1);
        before = ", ";
    }
    if (before[0] == ',') text_puts(out, ")");
}

/* The first row's text with every number as a range over all rows. */
static void put_merged(Text *out, const WarningKind *kind)
{
    int slot = 0;
    for (const char *at = kind->text; *at;) {
        double value;
        const size_t n = number_at(kind->text, at, &value);
        const WarningNumber *x = n && slot < ROW_WARNINGS_NUMBERS ? &kind->numbers[slot] : NULL;
        if (x && x->least < x->most)
            text_printf(out, "%s to %s", x->least_text, x->most_text);
        else
            text_append(out, at, n ? n : 1);
        slot += n > 0;
        at += n ? n : 1;
    }
}

void row_warnings_put(const RowWarnings *w, Table *table)
{
    Text text = {0};
    for (int k = 0; k < w->n; k++) {
        if (!w->unmarked) text_printf(&text, "(%d) ", k + 1);
        text_puts(&text, "warning: ");
        put_merged(&text, &w->kinds[k]);
        table_note_text(table, &text);
    }
    if (w->more) table_note(table, "more warnings are in the json and csv");
}
