#include "cli/published/published_figure.h"

#include "bench/estimate/memory_cell.h"
#include "bench/limits/placement.h"
#include "bench/record/component_dtypes.h"
#include "bench/study/accumulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PublishedFigureKind kind_of(const char *path)
{
    if (strcmp(path, "name") == 0) return PUBLISHED_KERNEL;
    if (*path == '%') return PUBLISHED_CHANGE;
    return *path == '+' ? PUBLISHED_DIFFERENCE : PUBLISHED_VALUE;
}

int published_figure_list(const PublishedTable *table,
                          PublishedFigure figures[PUBLISHED_MAX_FIGURES])
{
    int n = 0;
    for (const char *at = table->figures; *at && n < PUBLISHED_MAX_FIGURES; n++) {
        PublishedFigure *figure = &figures[n];
        const int length = (int)strcspn(at, " *");
        const int marked = *at == '%' || *at == '+';
        snprintf(figure->path, sizeof figure->path, "%.*s", length, at);
        figure->kind = kind_of(figure->path);
        memmove(figure->path, figure->path + marked, strlen(figure->path) + 1 - (size_t)marked);
        at += length;
        char *end = (char *)at;
        figure->scale = *at == '*' ? strtod(at + 1, &end) : 1;
        at = end + strspn(end, " ");
    }
    return n;
}

/* ---- headings ---- */

typedef struct Heading {
    char text[96];
    const char *unit;
} Heading;

/* "forward.std_ms" is "forward std" in ms. */
static Heading phase_heading(const char *path)
{
    static const char *const kinds[] = {"std", "min", "max", "median"};
    const int phase = (int)strcspn(path, ".");
    Heading heading = {.unit = path[phase] ? "ms" : ""};
    const char *kind = "";
    for (size_t i = 0; path[phase] && i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i]);
        if (strncmp(path + phase + 1, kinds[i], n) == 0 && path[phase + 1 + (int)n] == '_')
            kind = kinds[i];
    }
    snprintf(heading.text, sizeof heading.text, "%.*s%s%s", phase, path, *kind ? " " : "", kind);
    return heading;
}

static Heading heading_of(const char *path)
{
    static const struct {
        const char *path;
        Heading heading;
    } list[] = {{"tokens_per_s", {"tokens/s", ""}},
                {"peak_alloc_mib", {"peak memory", "MiB"}},
                {"peak_reserved_mib", {"reserved memory", "MiB"}},
                {"mem_before_bwd_mib", {"memory before backward", "MiB"}},
                {"ms", {"time a step", "ms"}},
                {"total", {"total", "ms"}},
                {"share", {"share", "%"}},
                {"calls", {"calls a step", ""}},
                {"all_calls", {"calls", ""}},
                {"us", {"mean", "us"}},
                {"us_med", {"median", "us"}},
                {"us_min", {"min", "us"}},
                {"us_max", {"max", "us"}},
                {"us_std", {"std", "us"}},
                {"name", {"kernel", ""}}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (strcmp(path, list[i].path) == 0) return list[i].heading;
    }
    return phase_heading(path);
}

void published_figure_columns(Table *table, const PublishedFigure *figures, int n)
{
    static const char *const endings[] = {[PUBLISHED_VALUE] = "",
                                          [PUBLISHED_CHANGE] = " against fp32",
                                          [PUBLISHED_DIFFERENCE] = " minus the row before",
                                          [PUBLISHED_KERNEL] = ""};
    for (int i = 0; i < n; i++) {
        const PublishedFigureKind kind = figures[i].kind;
        const bool name = kind == PUBLISHED_KERNEL;
        const Heading heading = heading_of(figures[i].path);
        const char *unit = kind == PUBLISHED_CHANGE ? "%" : heading.unit;
        char text[160];
        snprintf(text, sizeof text, "%s%s, published", heading.text, endings[kind]);
        if (!name) table_column(table, text, unit, true);
        snprintf(text, sizeof text, "%s%s, here", heading.text, endings[kind]);
        table_column(table, text, unit, !name);
    }
}

/* ---- values that need no run ---- */

enum { TERMS = 1000 };
static const double term = 0.01;

static bool put_sum(Text *text, const char *name)
{
    for (int w = 0; w < accumulation_n_ways; w++) {
        const AccumulationWay *way = &accumulation_ways[w];
        if (strcmp(name, way->name) != 0) continue;
        text_printf(text, "%.4f", accumulation_sum(way, ACCUMULATION_PLAIN, TERMS, term));
        return true;
    }
    return false;
}

static bool put_dtype(Text *text, const Config *config, const char *name)
{
    int component = 0;
    Placement place;
    Model model;
    Binding binding;
    while (component < COMPONENT_COUNT && strcmp(name, component_dtypes_names[component]) != 0)
        component++;
    if (component == COMPONENT_COUNT || placement_of(config, &place) != ST_OK ||
        placement_plan(&place, config, config->mode, &model, &binding) != ST_OK)
        return false;
    text_puts(text, component_dtypes_of(&model, (Component)component).s);
    binding_free(&binding);
    model_free(&model);
    return true;
}

/* Before the first step there are no gradients and moments; the rest is what stays between steps. */
static size_t bytes_at(const MemoryProfile *profile, const char *moment)
{
    const MemoryMoment *between = &profile->between;
    const MemoryMoment *forward = &profile->peak[MEMORY_FIRST_STEP][PHASE_FORWARD];
    const MemoryMoment *optimizer = &profile->peak[MEMORY_LATER_STEP][PHASE_OPTIMIZER];
    if (strcmp(moment, "begin") == 0)
        return between->total - between->usage[MEMORY_MOMENT] - between->usage[MEMORY_GRAD];
    const MemoryMoment *at = strcmp(moment, "forward") == 0     ? forward
                             : strcmp(moment, "optimizer") == 0 ? optimizer
                                                                : NULL;
    return at && at->node != PLAN_NONE ? at->total : 0;
}

static bool put_memory(Text *text, const Config *config, const char *moment)
{
    CLEANUP(memory_cell_free) MemoryCell cell = {0};
    const bool there = memory_cell_make(&cell, config, NULL, true) == ST_OK && !cell.unsupported;
    const size_t bytes = there ? bytes_at(&cell.profile, moment) : 0;
    if (bytes > 0) text_printf(text, "%.2f", (double)bytes * 1e-9);
    return bytes > 0;
}

void published_figure_put_planned(Text *text, const Config *config, const char *what)
{
    const bool is_sum = strncmp(what, "sum ", 4) == 0, is_dtype = strncmp(what, "dtype ", 6) == 0,
               is_memory = strncmp(what, "gb ", 3) == 0;
    const bool done = (is_sum && put_sum(text, what + 4)) ||
                      (is_dtype && put_dtype(text, config, what + 6)) ||
                      (is_memory && put_memory(text, config, what + 3));
    if (!done) text_puts(text, "-");
}
