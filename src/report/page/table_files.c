#include "report/page/table_files.h"

#include "base/folder.h"
#include "report/records/report_latex.h"
#include "report/records/report_md.h"
#include "report/records/report_typst.h"

#include <stdlib.h>
#include <string.h>

typedef struct Format {
    const char *ending;
    TableWriter *writer;
    void (*title)(Text *out, const char *text);
    const char *own_head, *own_tail;                       /* of a file with one part */
    const char *head, *tail;                               /* of the document with all tables */
    const char *before_title, *after_title, *after_tables; /* of each part in it */
} Format;

#define LATEX_HEAD                                                \
    "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n" \
    "\\usepackage[a3paper,landscape,margin=1cm]{geometry}\n\\begin{document}\n\\footnotesize\n"

/* A file with one part is a document, and nothing but its tables where it is \input: within a document LaTeX has
 * made \documentclass an error of that name. */
#define LATEX_OWN_HEAD                                                                        \
    "% compiles alone; \\input it into a document that has \\usepackage{booktabs,graphicx}\n" \
    "\\expandafter\\ifx\\csname @notprerr\\endcsname\\documentclass\\else\n" LATEX_HEAD       \
    "\\def\\roofstepend{\\end{document}}\n\\fi\n"
#define LATEX_OWN_TAIL "\\ifdefined\\roofstepend\\expandafter\\roofstepend\\fi\n"

static const Format formats[] = {
    {"md", report_md_table, report_md_text, "", "", "", "", "## ", "\n\n", ""},
    {"tex", report_latex_table, report_latex_text, LATEX_OWN_HEAD, LATEX_OWN_TAIL, LATEX_HEAD,
     "\\end{document}\n", "\\section*{", "}\n", "\\clearpage\n"}, /* TeX holds few floats back */
    {"typ", report_typst_table, report_typst_string, "", "",
     "#set page(paper: \"a3\", flipped: true, margin: 1cm)\n", "", "= #", "\n\n", ""},
};

static Status write_file(const char *folder, const char *name, const Format *format,
                         const Text *text)
{
    Text path = {0};
    text_printf(&path, "%s/%s.%s", folder, name, format->ending);
    Status status = text_status(&path);
    if (status == ST_OK) status = text_status(text);
    if (status == ST_OK) status = text_write_file(text_str(&path), text_str(text), text->n);
    text_free(&path);
    return status;
}

static Status write_own(const char *folder, const char *name, const Format *format,
                        const Text *tables)
{
    Text text = {0};
    text_puts(&text, format->own_head);
    text_append(&text, text_str(tables), tables->n);
    text_puts(&text, format->own_tail);
    const Status status = write_file(folder, name, format, &text);
    text_free(&text);
    return status;
}

/* One part to a file of its own, and to the document with all of them. */
static Status write_part(const char *folder, const Format *format, const PagePart *parts, int i,
                         Text *all)
{
    Text name = {0}, text = {0}, title = {0};
    page_parts_name(&name, parts, i);
    page_parts_title(&title, &parts[i]);
    Status status = parts[i].write(&text, format->writer, &parts[i]);
    if (status == ST_OK) status = write_own(folder, text_str(&name), format, &text);
    text_puts(all, format->before_title);
    format->title(all, text_str(&title));
    text_puts(all, format->after_title);
    text_append(all, text_str(&text), text.n);
    text_printf(all, "%s\n", format->after_tables);
    text_free(&name);
    text_free(&text);
    text_free(&title);
    return status;
}

static Status write_format(const char *folder, const Format *format, const PagePart *parts, int n)
{
    Text all = {0};
    Status status = ST_OK;
    text_puts(&all, format->head);
    for (int i = 0; status == ST_OK && i < n; i++)
        status = write_part(folder, format, parts, i, &all);
    text_puts(&all, format->tail);
    if (status == ST_OK) status = write_file(folder, "tables", format, &all);
    text_free(&all);
    return status;
}

Status table_files_write(const char *folder, const PageInput *input)
{
    PagePart *parts = NULL;
    int n_parts = 0;
    TRY(folder_make(folder));
    TRY(page_parts_list(input, &parts, &n_parts));
    Status status = ST_OK;
    for (size_t f = 0; status == ST_OK && f < sizeof formats / sizeof *formats; f++)
        status = write_format(folder, &formats[f], parts, n_parts);
    free(parts);
    return status;
}
