/* A file that a page is made of, whichever command wrote it. */
#ifndef REPORT_FINDINGS_PAGE_FILE_H
#define REPORT_FINDINGS_PAGE_FILE_H

#include "base/text.h"
#include "bench/limits/limits.h"
#include "bench/record/record_set.h"
#include "report/format/table.h"

/* What rows are about; each kind has its own tables and charts. */
typedef enum PageKind {
    PAGE_MODEL,
    PAGE_ATTENTION,
    PAGE_PROFILE,
    PAGE_WARMUP,
    PAGE_PRECISION,
    PAGE_KINDS
} PageKind;

typedef struct PageFile {
    const char *path;           /* as it was given; borrowed */
    RecordSet rows;             /* none in a file of limits, memory or a trace */
    RecordSet kind[PAGE_KINDS]; /* the same rows by kind */
    bool has_limits;
    Limits limits;
    bool is_warmup;    /* a study of warm-ups, */
    int64_t sum_count; /* or of precisions: how many terms its sums have; 0: none */
    double sum_value;
    json_t *memory; /* cells of `memory`; NULL: none */
    json_t *layer;  /* of a trace: page_trace.h; NULL: none */
} PageFile;

/* json or jsonl of bench, attention, profile, warmup or precision, json of memory or limits, or a trace of
 * profile. ST_USAGE: it is none of these, or cannot be read. The caller frees it, after a failure too. */
Status page_file_read(PageFile *file, const char *path);
/* The same of a file's text. */
Status page_file_parse(PageFile *file, const char *path, const Text *text);
void page_file_free(PageFile *file);

const char *page_file_name(const PageFile *file); /* without folders */
const char *page_file_kind_name(PageKind kind);   /* "model", ... */
/* How many of the files have rows of this kind: where several do, a row is named with its file. */
int page_file_count(const PageFile *files, int n, PageKind kind);
/* The first of the files before files[i] that has a cell in common with it; NULL: none. */
const PageFile *page_file_before(const PageFile *files, int i);
/* Which columns set rows of a kind apart, for record_notes_label(). It looks through all of them. */
void page_file_distinct(bool shown[TABLE_MAX_COLUMNS], const RecordSet *rows);
/* "small, ctx 512": a row by what sets it apart from the others of its kind; of many rows, page_file_distinct() first. */
void page_file_label(Text *out, const RecordSet *rows, const Record *record);

#endif
