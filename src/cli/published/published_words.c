#include "cli/published/published_words.h"

#include <stdio.h>
#include <string.h>

bool published_words_is_change(const PublishedFigure *figure)
{
    return figure->path[0] == '%';
}

bool published_words_is_more(const PublishedFigure *figure)
{
    return figure->path[0] == '+';
}

bool published_words_is_name(const PublishedFigure *figure)
{
    return strcmp(figure->path, "name") == 0;
}

/* ---- headings ---- */

typedef struct Heading {
    char words[64], unit[16];
} Heading;

static Heading known_heading(const char *path)
{
    static const struct {
        const char *path, *words, *unit;
    } list[] = {{"tokens_per_s", "tokens/s", ""},
                {"peak_alloc_mib", "peak memory", "MiB"},
                {"peak_reserved_mib", "reserved memory", "MiB"},
                {"mem_before_bwd_mib", "memory before backward", "MiB"},
                {"ms", "time a step", "ms"},
                {"total", "total", "ms"},
                {"share", "share", "%"},
                {"calls", "calls a step", ""},
                {"all_calls", "calls", ""},
                {"us", "mean", "us"},
                {"us_med", "median", "us"},
                {"us_min", "min", "us"},
                {"us_max", "max", "us"},
                {"us_std", "std", "us"},
                {"name", "kernel", ""}};
    Heading heading = {"", ""};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (strcmp(path, list[i].path) != 0) continue;
        snprintf(heading.words, sizeof heading.words, "%s", list[i].words);
        snprintf(heading.unit, sizeof heading.unit, "%s", list[i].unit);
    }
    return heading;
}

/* "forward.std_ms": "forward std" in ms. */
static Heading phase_heading(const char *path)
{
    static const char *const kinds[] = {"std", "min", "max", "median"};
    Heading heading;
    const int phase = (int)strcspn(path, ".");
    const char *kind = "";
    for (size_t i = 0; path[phase] && i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i]);
        if (strncmp(path + phase + 1, kinds[i], n) == 0 && path[phase + 1 + (int)n] == '_')
            kind = kinds[i];
    }
    snprintf(heading.words, sizeof heading.words, "%.*s%s%s", phase, path, *kind ? " " : "", kind);
    snprintf(heading.unit, sizeof heading.unit, "%s", path[phase] ? "ms" : "");
    return heading;
}

static Heading heading_of(const PublishedFigure *figure)
{
    const bool change = published_words_is_change(figure), more = published_words_is_more(figure);
    const char *path = figure->path + (change || more);
    Heading heading = known_heading(path);
    if (!*heading.words) heading = phase_heading(path);
    const size_t n = strlen(heading.words);
    if (change) snprintf(heading.words + n, sizeof heading.words - n, " against fp32");
    if (more) snprintf(heading.words + n, sizeof heading.words - n, " minus the row before");
    if (change) strcpy(heading.unit, "%");
    return heading;
}

void published_words_columns(Table *table, const PublishedFigure *figures, int n)
{
    for (int i = 0; i < n; i++) {
        const Heading heading = heading_of(&figures[i]);
        const bool name = published_words_is_name(&figures[i]);
        char words[96];
        snprintf(words, sizeof words, "%s, published", heading.words);
        if (!name) table_column(table, words, heading.unit, true);
        snprintf(words, sizeof words, "%s, here", heading.words);
        table_column(table, words, heading.unit, !name);
    }
}

/* ---- labels ---- */

void published_words_row(Text *out, const PublishedRow *row)
{
    const char *words = row->words, *name = published_list_row_name(row);
    bool first = true;
    if (name) text_puts(out, name);
    while (!name && *(words += strspn(words, " "))) {
        const size_t n = strcspn(words, " ");
        const size_t dashes = strncmp(words, "--", 2) == 0 ? 2 : 0;
        text_puts(out, first ? "" : dashes ? ", " : " ");
        text_append(out, words + dashes, n - dashes);
        words += n;
        first = false;
    }
}
