/* Published tables that `suite --like NAME` reproduces: their rows, their figures, and the configs that
 * reproduce them. */
#pragma once

#include "bench/record/record_set.h"
#include "cli/command.h"

enum { PUBLISHED_MAX_FIGURES = 9 };

typedef struct PublishedWriteup {
    const char *name, *what;
    const char *gpu; /* its data sheet; NULL: it does not say */
} PublishedWriteup;

typedef struct PublishedTable {
    int writeup;
    const Command *command;
    const char *title, *args, *figures, *note;
} PublishedTable;

typedef struct PublishedRow {
    int table;
    const char *name; /* NULL: the arguments name it */
    const char *args;
    double published[PUBLISHED_MAX_FIGURES]; /* INFINITY: did not fit; NAN: none */
} PublishedRow;

/* One line of a table that has one cell. */
typedef struct PublishedMeasure {
    int table;
    const char *label, *what; /* published.def lists the measures */
    const char *text;         /* published as text; NULL: as figures */
    double published[PUBLISHED_MAX_FIGURES];
} PublishedMeasure;

extern const PublishedWriteup published_list_writeups[];
extern const PublishedTable published_list_tables[];
extern const PublishedRow published_list_rows[];
extern const PublishedMeasure published_list_measures[];
extern const int published_list_n_tables, published_list_n_rows, published_list_n_measures;

/* Appends the row's label: its name, or "--size small --ctx 128" as "size small, ctx 128". */
void published_list_put_label(Text *out, const PublishedRow *row);
/* The data sheet of the GPU that a table is of; NULL: the write-up does not say. */
const char *published_list_gpu(int table);
/* The note on a line of a table; NULL: none. */
const char *published_list_note_of(int table, const char *which);

/* The number of a write-up. ST_USAGE names the nearest one. */
Status published_list_find(const char *name, int *writeup);
/* Parses the arguments of a row, or of a table that has one cell (`row` NULL), and those of `device`. */
Status published_list_config(const PublishedTable *table, const PublishedRow *row,
                             const char *device, Config *config);
bool published_list_is_profile(const PublishedTable *table);
/* A table of `profile`, `precision` or `memory`: its lines are figures of one cell. */
bool published_list_has_one_cell(const PublishedTable *table);

/* ---- the configs that reproduce each published row ---- */

typedef struct PublishedCells {
    Config *rows;   /* by number in published_list_rows */
    Config *tables; /* of tables that have one cell, by number in published_list_tables */
    bool *has_row, *has_table; /* by the same numbers: chosen by --size; a table with such a row */
} PublishedCells;

/* `device` are arguments of every cell; `sizes` lists sizes, a comma after each, "" for all rows. The
 * caller frees it, after a failure too. */
Status published_list_cells(PublishedCells *cells, const char *device, const char *sizes);
void published_list_cells_free(PublishedCells *cells);

/* A chosen cell of a write-up: a row, or the profile that a table shows. */
typedef struct PublishedCell {
    const Config *config;    /* NULL: before the first */
    const PublishedRow *row; /* NULL: a profile */
    int table;
    bool profiled;
    int next;
} PublishedCell;

/* Steps to the next chosen cell of the write-up, from a zeroed one on; false: there is none. */
bool published_list_next(PublishedCell *cell, const PublishedCells *cells, int writeup);

/* ---- what was measured of them ---- */

/* The records of rows and, at [true], of profiles. */
typedef struct PublishedRecords {
    RecordSet of[2];
} PublishedRecords;

/* `environment` as of record_set_init(). The caller frees it, after a failure too. */
Status published_list_records(PublishedRecords *records, json_t *environment);
void published_list_records_free(PublishedRecords *records);
/* NULL: none. */
Record *published_list_record(const PublishedRecords *records, const Config *config, bool profiled);
