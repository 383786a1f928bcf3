/* How times and memory grow over the sweeps in a set of results: rows that differ in one axis only. */
#pragma once

#include "base/growth_terms.h"
#include "base/text.h"
#include "bench/record/record_set.h"

typedef enum GrowthKind { GROWTH_TIME, GROWTH_MEMORY } GrowthKind;

/* A figure of a row: the time of a phase in ms, by the row's statistic, or memory in MiB. */
typedef struct GrowthFigure {
    const char *name; /* in results: "forward", "peak_alloc_mib" */
    const char *text; /* for people */
    GrowthKind kind;
} GrowthFigure;

typedef struct GrowthLaw {
    const GrowthFigure *figure;
    int points;         /* different n that have the figure */
    double least, most; /* n */
    GrowthTerms terms;  /* of memory; degree -1: none */
    GrowthFit fit;      /* of a time, and of memory without terms */
} GrowthLaw;

enum { GROWTH_FIGURES = 6 };

typedef struct GrowthSweep {
    const char *axis;    /* n of a row: this field. Rows differ in it and in what it follows from */
    const Record *first; /* its first row; borrowed from the set */
    int points;          /* different n of its rows that were measured */
    GrowthLaw laws[GROWTH_FIGURES];
    int n_laws;
} GrowthSweep;

typedef struct Growth {
    GrowthSweep *sweeps;
    int n;
} Growth;

/* Sweeps of at least three different n, in the order of their first rows. A peer's rows and what
 * was not measured are left out. The caller frees it, after a failure too. */
Status growth_make(Growth *growth, const RecordSet *set);
void growth_free(Growth *growth);

/* Is the value of this field the same in all rows of a sweep? */
bool growth_is_fixed(const char *axis, const char *field);
/* Why a fit claims no exponent, "" where it does: "3 points, and 4 are needed". */
void growth_why(Text *out, const char *axis, const GrowthFit *fit);
/* As in result files: an array of one object per law. The caller frees it, after a failure too. */
Status growth_json(json_t **out, const RecordSet *set);
/* What all rows of a sweep are: an object of the fields that say what work it was. The caller's;
 * NULL: no memory. */
json_t *growth_json_where(const GrowthSweep *sweep);
