#include "report/records/report_latex.h"

#include "base/escape.h"
#include "report/records/record_table.h"

void report_latex_text(Text *out, const char *text)
{
    escape_put(out, ESCAPE_LATEX, text);
}

static void put_heading(Text *out, const TableColumn *column)
{
    const TableHeading as = {.put = report_latex_text,
                             .begin = column->right ? "\\shortstack[r]{" : "\\shortstack[l]{",
                             .between = " \\\\ ",
                             .end = "}"};
    table_put_heading(out, column->label, &as);
}

/* A table larger than the page's text is shrunk to it, no other is stretched. */
static void put_begin(Text *out)
{
    text_puts(out, "\\begin{table}[htbp]\n  \\centering\n"
                   "  \\resizebox*{!}{\\ifdim\\totalheight>0.99\\textheight "
                   "0.99\\textheight\\else\\totalheight\\fi}{%\n"
                   "  \\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n");
}

Status report_latex_table(Text *out, const Table *table)
{
    text_puts(out, "% needs \\usepackage{booktabs,graphicx}\n");
    table_put_comments(out, table, "% ");
    if (table->n_columns == 0) return text_status(out);
    put_begin(out);
    text_puts(out, "  \\begin{tabular}{");
    for (int c = 0; c < table->n_columns; c++) text_puts(out, table->columns[c].right ? "r" : "l");
    text_puts(out, "}\n    \\toprule\n    ");
    for (int c = 0; c < table->n_columns; c++) {
        if (c) text_puts(out, " & ");
        put_heading(out, &table->columns[c]);
    }
    text_puts(out, " \\\\\n    \\midrule\n");
    for (size_t r = 0; r < table_rows(table); r++) {
        text_puts(out, "    ");
        for (int c = 0; c < table->n_columns; c++) {
            if (c) text_puts(out, " & ");
            report_latex_text(out, table_at(table, r, c));
        }
        text_puts(out, " \\\\\n");
    }
    text_puts(out, "    \\bottomrule\n  \\end{tabular}}}\n\\end{table}\n");
    return text_status(out);
}

Status report_latex(Text *out, const ReportInput *input)
{
    return record_table_write(out, input, report_latex_table);
}
