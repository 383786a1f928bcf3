#include "report/format/table_md.h"

#include "base/escape.h"
#include "report/format/table_write.h"

#include <stdint.h>
#include <string.h>

/* "[CUDA memset]": brackets around the whole text make no link. */
static bool is_bracketed(const char *text)
{
    const char *end = strchr(text, ']');
    return text[0] == '[' && end && !end[1];
}

static size_t terminal; /* its columns; 0: tables go to a file, or Markdown was asked for */

/* A terminal shows the text itself: nothing is escaped but what it would act on. */
static void put_text(Text *out, const char *text)
{
    CLEANUP(text_free) Text inside = {0};
    if (terminal) {
        escape_put(out, ESCAPE_LINE, text);
        return;
    }
    if (!is_bracketed(text)) {
        escape_put(out, ESCAPE_MD, text);
        return;
    }
    text_append(&inside, text + 1, strlen(text) - 2);
    text_puts(out, "[");
    escape_put(out, ESCAPE_MD, text_str(&inside));
    text_puts(out, "]");
    out->failed = out->failed || inside.failed;
}

/* A list item: what would begin a list, a heading or a rule inside it is escaped. */
static void put_item(Text *out, const char *text)
{
    text += strspn(text, " \t\r\n");
    const size_t digits = strspn(text, "0123456789");
    text_append(out, text, digits);
    text += digits;
    const size_t marks = strspn(text, digits ? ".)" : "#+-"),
                 blanks = strspn(text + marks, " \t\r\n");
    if (!terminal && marks > 0 && (blanks > 0 || !text[marks])) text_puts(out, "\\");
    put_text(out, text);
}

/* The fence has more backticks than any run inside. */
static void put_code(Text *out, const char *code)
{
    size_t longest = 0, run = 0;
    for (const char *c = code; *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    const char *pad = longest ? " " : "";
    text_fill(out, '`', longest + 1);
    text_puts(out, pad);
    escape_put(out, ESCAPE_LINE, code);
    text_puts(out, pad);
    text_fill(out, '`', longest + 1);
}

static size_t escaped_width(const char *text)
{
    CLEANUP(text_free) Text escaped = {0};
    put_text(&escaped, text);
    return text_width(text_str(&escaped));
}

/* Its first characters and "...", where there is no room for all. */
static void put_cut(Text *out, const char *text, size_t width)
{
    CLEANUP(text_free) Text escaped = {0};
    put_text(&escaped, text);
    const char *end = text_str(&escaped);
    for (uint32_t code; *end && width > 3; width--) end += escape_decode(end, &code);
    text_append(out, text_str(&escaped), (size_t)(end - text_str(&escaped)));
    text_puts(out, "...");
    out->failed |= escaped.failed;
}

static void put_cell(Text *out, const char *text, size_t width, bool right)
{
    const size_t own = escaped_width(text);
    const size_t pad = width > own ? width - own : 0;
    text_puts(out, "| ");
    if (right) text_fill(out, ' ', pad);
    if (own > width)
        put_cut(out, text, width);
    else
        put_text(out, text);
    if (!right) text_fill(out, ' ', pad);
    text_puts(out, " ");
}

/* ---- columns that a narrow terminal hides ---- */

void table_md_fit(size_t columns)
{
    terminal = columns;
}

size_t table_md_columns(void)
{
    return terminal;
}

static size_t line_width(const Table *table, const size_t *width)
{
    size_t sum = 1;
    for (int c = 0; c < table->n_columns; c++) sum += width[c] ? width[c] + 3 : 0;
    return sum;
}

typedef struct Hidden {
    int column[TABLE_MAX_COLUMNS];
    int n;
} Hidden;

static void hide(Hidden *hidden, int column, size_t *width)
{
    if (width[column] == 0) return;
    width[column] = 0;
    hidden->column[hidden->n++] = column;
}

/* Hides columns by width 0 until the table fits: those that it can spare, then the others from the
 * last but one leftwards. The first says what a row is, the last is most often what it comes to. */
static void fit(const Table *table, size_t *width, Hidden *hidden)
{
    const int middle = table->n_columns > 3 ? table->n_columns - 2 : 0;
    for (int i = 0; terminal && i < table->n_spare + middle; i++) {
        if (line_width(table, width) <= terminal) return;
        hide(hidden, i < table->n_spare ? table->spare[i] : middle + table->n_spare - i, width);
    }
}

/* A table that is too wide all the same: its widest columns are cut. */
static void cut(const Table *table, size_t *width)
{
    enum { LEAST = 8 };
    while (terminal && table->n_columns && line_width(table, width) > terminal) {
        int widest = 0;
        for (int c = 1; c < table->n_columns; c++) widest = width[c] > width[widest] ? c : widest;
        if (width[widest] <= LEAST) return;
        width[widest]--;
    }
}

static void put_hidden(Text *out, const Table *table, const Hidden *hidden)
{
    if (hidden->n == 0) return;
    text_puts(out, "- columns hidden to fit the terminal:");
    for (int i = 0; i < hidden->n; i++)
        text_printf(out, "%s %s", i ? "," : "", table->columns[hidden->column[i]].label);
    text_puts(out, "; --format md shows all\n");
}

/* ---- the table ---- */

static void measure(const Table *table, size_t width[TABLE_MAX_COLUMNS])
{
    for (int c = 0; c < table->n_columns; c++) {
        width[c] = escaped_width(table->columns[c].label);
        if (width[c] < 3) width[c] = 3; /* "--:" */
        for (size_t r = 0; r < table_rows(table); r++) {
            const size_t own = escaped_width(table_at(table, r, c));
            if (own > width[c]) width[c] = own;
        }
    }
}

static void put_row(Text *out, const Table *table, size_t row, const size_t *width)
{
    for (int c = 0; c < table->n_columns; c++) {
        if (width[c]) put_cell(out, table_at(table, row, c), width[c], table->columns[c].right);
    }
    text_puts(out, "|\n");
}

static void put_heading(Text *out, const Table *table, const size_t *width)
{
    for (int c = 0; c < table->n_columns; c++) {
        if (width[c]) put_cell(out, table->columns[c].label, width[c], table->columns[c].right);
    }
    text_puts(out, "|\n");
    for (int c = 0; c < table->n_columns; c++) {
        const bool right = table->columns[c].right;
        if (!width[c]) continue;
        text_puts(out, right ? "| " : "| :");
        text_fill(out, '-', width[c] - 1);
        text_puts(out, right ? ": " : " ");
    }
    text_puts(out, "|\n");
}

static void put_notes(Text *out, const Table *table)
{
    for (size_t i = 0; i < table->n_notes; i++) {
        text_puts(out, "- ");
        put_item(out, table->notes[i].text);
        if (table->notes[i].code) {
            text_puts(out, ": ");
            put_code(out, table->notes[i].code);
        }
        text_puts(out, "\n");
    }
}

static Status write_table(Text *out, const Table *table)
{
    size_t width[TABLE_MAX_COLUMNS];
    measure(table, width);
    Hidden hidden = {.n = 0};
    fit(table, width, &hidden);
    cut(table, width);
    if (terminal && table->title) text_printf(out, "%s\n", table->title);
    if (table->n_columns) put_heading(out, table, width);
    for (size_t r = 0; r < table_rows(table); r++) put_row(out, table, r, width);
    if (hidden.n || table->n_notes) text_puts(out, "\n");
    put_hidden(out, table, &hidden);
    put_notes(out, table);
    return text_status(out);
}

const TableFormat table_md = {.name = "md",
                              .write = write_table,
                              .put_text = put_text,
                              .ending = "md",
                              .title_begin = "## ",
                              .title_end = "\n\n"};
