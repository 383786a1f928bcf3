#include "base/escape.h"
#include "report/format/table_write.h"

static void put_text(Text *out, const char *text)
{
    escape_put(out, ESCAPE_LATEX, text);
}

static void put_heading(Text *out, const TableColumn *column)
{
    const TableHeading as = {.put = put_text,
                             .begin = column->right ? "\\shortstack[r]{" : "\\shortstack[l]{",
                             .between = " \\\\ ",
                             .end = "}"};
    table_put_heading(out, column->label, &as);
}

/* A table larger than the page's text is shrunk to it, no other is stretched. */
static void put_begin(Text *out, const Table *table)
{
    text_puts(out, "\\begin{table}[htbp]\n  \\centering\n");
    if (table->title) {
        text_puts(out, "  \\caption{");
        put_text(out, table->title);
        text_puts(out, "}\n  ");
        table_put_label(out, table, "\\label{", "}\n");
    }
    text_puts(out, "  \\resizebox*{!}{\\ifdim\\totalheight>0.99\\textheight "
                   "0.99\\textheight\\else\\totalheight\\fi}{%\n"
                   "  \\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n");
}

static Status write_table(Text *out, const Table *table)
{
    text_puts(out, "% needs \\usepackage{booktabs,graphicx}\n");
    table_put_comments(out, table, "% ");
    if (table->n_columns == 0) return text_status(out);
    put_begin(out, table);
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
            put_text(out, table_at(table, r, c));
        }
        text_puts(out, " \\\\\n");
    }
    text_puts(out, "    \\bottomrule\n  \\end{tabular}}}\n\\end{table}\n");
    return text_status(out);
}

#define DOCUMENT_BEGIN                                            \
    "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n" \
    "\\usepackage[a3paper,landscape,margin=1cm]{geometry}\n\\begin{document}\n\\footnotesize\n"

/* The file of one part compiles alone. \input into a document it is nothing but its tables:
 * LaTeX makes \documentclass an error of that name within a document. */
#define PART_BEGIN                                                                            \
    "% compiles alone; \\input it into a document that has \\usepackage{booktabs,graphicx}\n" \
    "\\expandafter\\ifx\\csname @notprerr\\endcsname\\documentclass\\else\n" DOCUMENT_BEGIN   \
    "\\def\\roofstepend{\\end{document}}\n\\fi\n"

const TableFormat table_latex = {.name = "latex",
                                 .write = write_table,
                                 .put_text = put_text,
                                 .ending = "tex",
                                 .part_begin = PART_BEGIN,
                                 .part_end =
                                     "\\ifdefined\\roofstepend\\expandafter\\roofstepend\\fi\n",
                                 .document_begin = DOCUMENT_BEGIN,
                                 .document_end = "\\end{document}\n",
                                 .title_begin = "\\section*{",
                                 .title_end = "}\n\n",
                                 .after_tables = "\\clearpage\n"}; /* TeX holds few floats back */
