#include "report/records/report_csv.h"

#include "base/escape.h"
#include "report/format/flat_row.h"
#include "report/records/report.h"

#include <string.h>

/* What a spreadsheet takes for the beginning of a formula, after blanks too: it would run =cmd|... on opening. */
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

void report_csv_field(Text *out, const char *text)
{
    const bool formula = is_formula(text), quoted = formula || strpbrk(text, ",\"\r\n");
    if (quoted) text_puts(out, "\"");
    if (formula) text_puts(out, "'");
    escape_put(out, ESCAPE_CSV, text);
    if (quoted) text_puts(out, "\"");
}

Status report_csv(Text *out, const ReportInput *input)
{
    for (int c = 0; c < flat_row_count; c++) {
        text_printf(out, "%s%s", c ? "," : "", flat_row_columns[c].name);
    }
    text_puts(out, "\n");
    Text value = {0};
    for (size_t i = 0; i < record_set_size(input->set); i++) {
        for (int c = 0; c < flat_row_count; c++) {
            text_clear(&value);
            flat_row_put(&value, flat_row_value(&flat_row_columns[c], input->set,
                                                record_set_at(input->set, i)));
            if (c) text_puts(out, ",");
            report_csv_field(out, text_str(&value));
        }
        text_puts(out, "\n");
    }
    out->failed = out->failed || value.failed;
    text_free(&value);
    return text_status(out);
}
