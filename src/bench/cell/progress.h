/* How far a sweep is, on stderr: one line that moves on a terminal, elsewhere a line every ten seconds of a
 * long cell, and a line for every finished cell everywhere. */
#pragma once

#include "bench/cell/cell_record.h"

#include <stdio.h>

typedef struct Progress {
    FILE *out;
    bool live;    /* the moving line is drawn, in colours */
    bool quiet;   /* only cells that fail have a line */
    int columns;  /* of the terminal */
    int n, index; /* cells, the current one from 1 */
    double total; /* weight of all cells: their work, in any unit */
    double trust; /* how much of it at a second each is believed beforehand; 0: the unit is none */
    double finished, finished_for; /* weight that is done, and the seconds it took */
    double weight, started;        /* of the current cell */
    int64_t steps;                 /* it will take at most, unmeasured ones included */
    double first, first_at;        /* share of them when the first was over, and when; 0: not yet */
    double last, last_at;          /* the same of the last */
    bool timed;                    /* it ends by the clock, maybe after fewer steps */
    char label[160];
    double drawn_at, told_at;
    bool drawn; /* the moving line is on the screen */
} Progress;

/* On stderr, as the terminal and NO_COLOR have it. */
void progress_begin(Progress *p, int n, double total);
void progress_cell(Progress *p, int index, const char *label, const Config *config, double weight);
/* The moving line, some ten times a second however often it is called. `now` in clock_seconds(). */
void progress_draw(Progress *p, const CellRecord *cell, double now);
/* The current cell took its time; more of it, or its line, may follow. One that ended early (out of
 * memory, not supported) says nothing about how long the others take: `early` leaves it out of the
 * account. */
void progress_done(Progress *p, double now, bool early);
/* The line of a cell that is over, with a remark at its end. */
void progress_finished(Progress *p, int index, const char *label, const Record *record,
                       const char *remark);
/* Any line, printed above the moving one, without what a terminal obeys. */
void progress_line(Progress *p, const char *text);
void progress_end(Progress *p);

/* Weights are seconds: there is something to go by from the start. */
void progress_trust_weights(Progress *p);
/* Seconds left by what finished cells showed; NAN while there is nothing to go by. `fraction` is how
 * much of the current cell's steps is done. */
double progress_eta(const Progress *p, double fraction, double now);
