/* published_quotes.def and published_asides.def as tables. */
#pragma once

#include "published_lines.h"

enum { N_FILES = 5 };

static const char *const files[N_FILES] = {"000_adb3d95382066a73.txt", "001_54c101fff36bc4e4.txt",
                                           "002_ff010566413e16fa.txt", "003_3f7be30c0d3b4df0.txt",
                                           "004_f9cc4e741fa28d5a.txt"};

typedef struct Quote {
    const char *table, *which;
    int file;
    double scale;
    const char *text, *other; /* `other`: of a sum, where the second value is */
    double values[16];
    size_t n; /* 0: of words */
} Quote;

static const Quote quotes[] = {
#define QUOTE(table, which, file, text, ...) \
    {#table, which, file, 1, text, NULL, {__VA_ARGS__}, N_OF(__VA_ARGS__)},
#define SCALED(table, which, file, scale, text, ...) \
    {#table, which, file, scale, text, NULL, {__VA_ARGS__}, N_OF(__VA_ARGS__)},
#define SUM(table, which, file, text, a, other, b) {#table, which, file, 1, text, other, {a, b}, 2},
#define WORDS(table, which, file, scale, text)     {#table, which, file, scale, text, NULL, {0}, 0},
#include "published_quotes.def"
};

static const struct {
    const char *table;
    size_t at[16], n;
} places[] = {
#define PLACES(table, ...) {#table, {__VA_ARGS__}, N_OF(__VA_ARGS__)},
#include "published_quotes.def"
};

static const struct {
    const char *table; /* whose words have its numbers; NULL: none has */
    int file;
    const char *text;
} asides[] = {
#define SETTING(table, file, text) {#table, file, text},
#define ASIDE(file, text, reason)  {NULL, file, text},
#include "published_asides.def"
};

enum {
    N_QUOTES = sizeof quotes / sizeof *quotes,
    N_PLACES = sizeof places / sizeof *places,
    N_ASIDES = sizeof asides / sizeof *asides
};
