/* Write-ups whose tables `suite --like NAME` makes again: their rows and the figures they published. */
#ifndef CLI_PUBLISHED_PUBLISHED_LIST_H
#define CLI_PUBLISHED_PUBLISHED_LIST_H

#include "cli/command.h"

enum { PUBLISHED_MAX_FIGURES = 9 };

typedef struct PublishedWriteup {
    const char *name, *what;
} PublishedWriteup;

typedef struct PublishedTable {
    int writeup;
    const Command *command;
    const char *title, *words, *figures, *note;
} PublishedTable;

typedef struct PublishedRow {
    int table;
    const char *words;
    double published[PUBLISHED_MAX_FIGURES]; /* INFINITY: did not fit; NAN: none */
} PublishedRow;

/* One line of a table that has one cell. */
typedef struct PublishedMeasure {
    int table;
    const char *label, *what; /* published.def has the words it is made of */
    const char *text;         /* published in words; NULL: in figures */
    double published[PUBLISHED_MAX_FIGURES];
} PublishedMeasure;

/* What people call a row, and what is assumed or does not add up in a line; `which` is the words of a row or the label
 * of a figure. */
typedef struct PublishedRemark {
    int table;
    const char *which, *text;
} PublishedRemark;

extern const PublishedWriteup published_list_writeups[];
extern const PublishedTable published_list_tables[];
extern const PublishedRow published_list_rows[];
extern const PublishedMeasure published_list_measures[];
extern const PublishedRemark published_list_names[], published_list_notes[];
extern const int published_list_n_tables, published_list_n_rows, published_list_n_measures,
    published_list_n_names, published_list_n_notes;

/* NULL: its words are its name. */
const char *published_list_row_name(const PublishedRow *row);
/* Of a line of a table; NULL: none. */
const char *published_list_note_of(int table, const char *which);

/* The number of a write-up. ST_USAGE names the nearest one. */
Status published_list_find(const char *name, int *writeup);
/* The cell of a row, or of a table that has one cell (`row` NULL); `device` are further words. */
Status published_list_config(const PublishedTable *table, const PublishedRow *row,
                             const char *device, Config *config);
bool published_list_is_profile(const PublishedTable *table);
/* A table of `profile`, `precision` or `memory`: its lines are figures of one cell. */
bool published_list_has_one_cell(const PublishedTable *table);

/* One figure of a table: a name in a result, or a measure of a profile, and what turns the published one into its
 * unit. */
typedef struct PublishedFigure {
    char path[64];
    double scale;
} PublishedFigure;

int published_list_figures(const PublishedTable *table,
                           PublishedFigure figures[PUBLISHED_MAX_FIGURES]);

#endif
