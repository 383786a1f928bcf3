/* The tables of a page, file by file: the same ones that `report --tables` writes as md, latex and
 * typst. */
#pragma once

#include "report/findings/result_input.h"
#include "report/format/table.h"

typedef struct PagePart PagePart;
typedef Status PagePartWrite(Text *out, const char *format, const PagePart *part);

struct PagePart {
    const char *section; /* of page.html, by its id */
    const char *title;
    const ResultInput *file;  /* NULL: all of them */
    const RecordSet *rows;    /* of `file`, where the part is about rows */
    const ResultInput *other; /* that is compared with `file`; NULL: none */
    const ResultInput *files; /* all of them */
    int n_files;
    bool several;         /* several files have such a part */
    const void *self;     /* for `write` of a part that is not of files */
    int number;           /* the same: which of its kind it is */
    PagePartWrite *write; /* one table or several, a blank line between */
};

/* What a page is made of. */
typedef struct PageInput {
    const ResultInput *files;
    int n_files;
    const PagePart *more; /* parts of no file; they come first */
    int n_more;
    json_t *gaps;      /* {part, command, why} of parts of a suite that left no file; NULL: none */
    json_t *beside;    /* names of files beside the page, for links; NULL: none */
    const char *lines; /* to end the summary with, \n after each; NULL: none */
    const char *command; /* that makes the page */
} PageInput;

/* The parts that have tables, in the order of the page; the caller frees the array. */
Status page_parts_list(const PageInput *input, PagePart **parts, int *n_parts);
/* "Profile", or "Profile: run.json" where several files have one. */
void page_parts_title(Text *out, const PagePart *part);
/* The same of one of its tables: "Where the time goes, by op, tiny fp32: run.json". */
void page_parts_title_of(Text *out, const PagePart *part, const char *words);
/* For the name of a file: "end-to-end", or "end-to-end-2" of a second file. */
void page_parts_name(Text *out, const PagePart *parts, int i);
