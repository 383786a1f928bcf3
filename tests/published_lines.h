/* The lines of src/cli/published/published.def as tests read them. */
#pragma once

#include <math.h>
#include <stddef.h>

typedef struct Line {
    const char *table, *label, *what; /* of a row `label` is its words */
    const char *text;                 /* published in words; NULL: in figures */
    double published[16];
    size_t n;
} Line;

#define N_OF(...) (sizeof((double[]){__VA_ARGS__}) / sizeof(double))
#define OOM       INFINITY

static const Line lines[] = {
#define FIGURE(table, label, what, ...) \
    {#table, label, what, NULL, {__VA_ARGS__}, N_OF(__VA_ARGS__)},
#define TEXT(table, label, what, text) {#table, label, what, text, {NAN}, 1},
#include "cli/published/published.def"
};

static const Line rows[] = {
#define ROW(table, words, ...) {#table, words, "", NULL, {__VA_ARGS__}, N_OF(__VA_ARGS__)},
#include "cli/published/published.def"
};

static const struct {
    const char *table, *command, *words, *figures;
} tables[] = {
#define TABLE(id, writeup, command, title, words, figures, note) {#id, #command, words, figures},
#include "cli/published/published.def"
};

enum {
    N_LINES = sizeof lines / sizeof *lines,
    N_ROWS = sizeof rows / sizeof *rows,
    N_TABLES = sizeof tables / sizeof *tables
};
