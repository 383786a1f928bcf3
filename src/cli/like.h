/* Write-ups whose tables `suite --like NAME` makes again: their rows and the figures they published. */
#ifndef CLI_LIKE_H
#define CLI_LIKE_H

#include "cli/command.h"

enum { LIKE_MOST_FIGURES = 9 };

typedef struct LikeWriteup {
    const char *name, *what;
} LikeWriteup;

typedef struct LikeTable {
    int writeup;
    const Command *command;
    const char *title, *words, *figures, *note;
} LikeTable;

typedef struct LikeRow {
    int table;
    const char *words;
    double published[LIKE_MOST_FIGURES]; /* INFINITY: did not fit; NAN: none */
} LikeRow;

/* One line of a table that has one cell. */
typedef struct LikeMeasure {
    int table;
    const char *label, *what; /* published.def has the words it is made of */
    const char *text;         /* published in words; NULL: in figures */
    double published[LIKE_MOST_FIGURES];
} LikeMeasure;

/* What people call a row, and what is assumed or does not add up in a line; `which` is the words of a row or the label
 * of a figure. */
typedef struct LikeRemark {
    int table;
    const char *which, *text;
} LikeRemark;

extern const LikeWriteup like_writeups[];
extern const LikeTable like_tables[];
extern const LikeRow like_rows[];
extern const LikeMeasure like_measures[];
extern const LikeRemark like_names[], like_notes[];
extern const int like_n_tables, like_n_rows, like_n_measures, like_n_names, like_n_notes;

/* NULL: its words are its name. */
const char *like_row_name(const LikeRow *row);
/* Of a line of a table; NULL: none. */
const char *like_note_of(int table, const char *which);

/* The number of a write-up. ST_USAGE names the nearest one. */
Status like_find(const char *name, int *writeup);
/* The cell of a row, or of a table that has one cell (`row` NULL); `device` are further words. */
Status like_config(const LikeTable *table, const LikeRow *row, const char *device, Config *config);
bool like_is_profile(const LikeTable *table);
/* A table of `profile`, `precision` or `memory`: its lines are figures of one cell. */
bool like_has_one_cell(const LikeTable *table);

/* One figure of a table: a name in a result, or a measure of a profile, and what turns the published one into its
 * unit. */
typedef struct LikeFigure {
    char path[64];
    double scale;
} LikeFigure;

int like_figures(const LikeTable *table, LikeFigure figures[LIKE_MOST_FIGURES]);

#endif
