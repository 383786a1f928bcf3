#include "report/format/csv_writer.h"

#include "base/escape.h"
#include "report/format/flat_row.h"

#include <string.h>

/* What a spreadsheet takes for the beginning of a formula, after blanks too: it would run
 * =cmd|... on opening. */
static const char *const formulas[] = {"=",  "+",  "-",  "@",  "\t", "\r",
                                       "\n", "＝", "＋", "－", "＠"};

static bool is_number(const char *text)
{
    static const char digits[] = "0123456789";
    text += *text == '-' || *text == '+';
    const size_t whole = strspn(text, digits);
    text += whole;
    const size_t part = *text == '.' ? strspn(text + 1, digits) : 0;
    text += *text == '.' ? part + 1 : 0;
    if (whole + part == 0) return false;
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '-' || text[1] == '+' ? 2 : 1;
        if (!*text) return false;
        text += strspn(text, digits);
    }
    return !*text;
}

/* "-" alone stands for nothing. */
static bool is_formula(const char *text)
{
    text += strspn(text, " ");
    if (strcmp(text, "-") == 0 || is_number(text)) return false;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        if (strncmp(text, formulas[i], strlen(formulas[i])) == 0) return true;
    }
    return false;
}

void csv_writer_field(Text *out, const char *text)
{
    const bool formula = is_formula(text), quoted = formula || strpbrk(text, ",\"\r\n");
    if (quoted) text_puts(out, "\"");
    if (formula) text_puts(out, "'");
    escape_put(out, ESCAPE_CSV, text);
    if (quoted) text_puts(out, "\"");
}

void csv_writer_value(Text *out, const json_t *value)
{
    CLEANUP(text_free) Text text = {0};
    flat_row_put(&text, value);
    csv_writer_field(out, text_str(&text));
    out->failed = out->failed || text.failed;
}
