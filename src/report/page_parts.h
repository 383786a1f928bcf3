/* The tables of a page, file by file: the same ones that `report --tables` writes as md, latex and typst. */
#ifndef REPORT_PAGE_PARTS_H
#define REPORT_PAGE_PARTS_H

#include "report/page_file.h"
#include "report/table.h"

typedef struct PagePart PagePart;
typedef Status PagePartWrite(Text *out, TableWriter *writer, const PagePart *part);

struct PagePart {
    const char *section; /* of page.html, by its id */
    const char *title;
    const PageFile *file;  /* NULL: all of them */
    const PageFile *other; /* that is compared with `file`; NULL: none */
    const PageFile *files; /* all of them */
    int n_files;
    PagePartWrite *write; /* one table or several, a blank line between */
};

/* What there are tables for in the order of the page; the caller frees the array. */
Status page_parts_list(const PageFile *files, int n_files, PagePart **parts, int *n_parts);
/* "end-to-end", or "end-to-end-2" of a second file: for the name of a file. */
void page_parts_name(Text *out, const PagePart *parts, int i);

#endif
