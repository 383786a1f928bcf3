#include "cli/published/published_numbers.h"

#include "bench/estimate/memory_cell.h"
#include "bench/limits/placement.h"
#include "bench/record/component_dtypes.h"
#include "bench/study/accumulation.h"
#include "exec/step_plan.h"

#include <string.h>

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

static Component find_component(const char *name)
{
    int c = 0;
    while (c < COMPONENT_COUNT && strcmp(name, component_dtypes_names[c]) != 0) c++;
    return (Component)c;
}

static bool put_dtype(Text *text, const Config *config, const char *name)
{
    const Component component = find_component(name);
    Placement place;
    Model model;
    Binding binding;
    if (component == COMPONENT_COUNT || placement_of(config, &place) != ST_OK ||
        placement_plan(&place, config, config->mode, &model, &binding) != ST_OK)
        return false;
    text_puts(text, component_dtypes_of(&model, component).s);
    binding_free(&binding);
    model_free(&model);
    return true;
}

/* Gradients and moments are not there before the first step, and what stays between steps is. */
static double bytes_at(const MemoryProfile *profile, const char *moment)
{
    const MemoryMoment *between = &profile->between;
    const MemoryMoment *at =
        strcmp(moment, "forward") == 0     ? &profile->peak[MEMORY_FIRST_STEP][PHASE_FORWARD]
        : strcmp(moment, "optimizer") == 0 ? &profile->peak[MEMORY_LATER_STEP][PHASE_OPTIMIZER]
                                           : NULL;
    if (at) return at->node == PLAN_NONE ? 0 : (double)at->total;
    return strcmp(moment, "begin") == 0 ? (double)(between->total - between->usage[MEMORY_MOMENT] -
                                                   between->usage[MEMORY_GRAD])
                                        : 0;
}

static bool put_memory(Text *text, const Config *config, const char *moment)
{
    MemoryCell cell = {0};
    const bool there = memory_cell_make(&cell, config, NULL, true) == ST_OK && !cell.unsupported;
    const double bytes = there ? bytes_at(&cell.profile, moment) : 0;
    if (bytes > 0) text_printf(text, "%.2f", bytes * 1e-9);
    memory_cell_free(&cell);
    return bytes > 0;
}

void published_numbers_put(Text *text, const Config *config, const char *what)
{
    const bool is_sum = strncmp(what, "sum ", 4) == 0, is_dtype = strncmp(what, "dtype ", 6) == 0,
               is_memory = strncmp(what, "gb ", 3) == 0;
    const bool done = (is_sum && put_sum(text, what + 4)) ||
                      (is_dtype && put_dtype(text, config, what + 6)) ||
                      (is_memory && put_memory(text, config, what + 3));
    if (!done) text_puts(text, "-");
}
