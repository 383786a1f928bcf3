/* One figure of a published table: which value of a result it is, its heading, and what is known without
 * a run. */
#pragma once

#include "cli/published/published_list.h"
#include "report/format/table.h"

typedef enum PublishedFigureKind {
    PUBLISHED_VALUE,
    PUBLISHED_CHANGE,     /* %NAME: change in % against fp32 */
    PUBLISHED_DIFFERENCE, /* +NAME: difference to the row before */
    PUBLISHED_KERNEL      /* name: of a kernel */
} PublishedFigureKind;

typedef struct PublishedFigure {
    PublishedFigureKind kind;
    char path[64]; /* a name in a result, or a measure of a profile */
    double scale;  /* turns the published figure into our unit */
} PublishedFigure;

/* The figures of a table; returns how many. */
int published_figure_list(const PublishedTable *table,
                          PublishedFigure figures[PUBLISHED_MAX_FIGURES]);

/* Adds "forward, published (ms)" and "forward, here (ms)" for every figure; for a kernel's name only
 * ours, because the published one is the label of the line. */
void published_figure_columns(Table *table, const PublishedFigure *figures, int n);

/* Appends a value that needs no run:
 *
 *   sum WAY            of bench/study/accumulation.c: a thousand times 0.01, as the write-ups add up
 *   dtype COMPONENT    of bench/record/component_dtypes.def, in the plan of `config`
 *   gb MOMENT          memory in use, in 10^9 bytes, in the plan of `config`: `begin` before the first
 *                      step, `forward` the most in its forward pass, `optimizer` the most in the optimizer
 *                      of a later step
 *
 * and "-" where there is none. */
void published_figure_put_planned(Text *text, const Config *config, const char *what);
