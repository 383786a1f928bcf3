#include "report/memory/memory_columns.h"

#include "base/human.h"

#include <stdio.h>
#include <stdlib.h>

const MemoryStyle memory_columns_style[MEMORY_COUNT] = {
#define CLASS(id, name, category, colour, glyph, plain) {category, colour, glyph, plain},
#include "prof/memory_classes.def"
};

Status memory_columns_make(MemoryColumns *columns, const MemoryProfile *profile, int n)
{
    *columns = (MemoryColumns){.profile = profile, .n = n};
    MemoryMoment *list = columns->list = calloc((size_t)n + 1, sizeof *list);
    if (!list) return NO_MEMORY("for a chart");
    for (int c = 0; c < n; c++) {
        list[c] = memory_profile_column(profile, c, n);
        if (list[c].total > list[columns->peak].total) columns->peak = c;
    }
    return ST_OK;
}

const Node *memory_columns_node(const MemoryColumns *columns, int column)
{
    return &columns->profile->blocks.model->plan.nodes[columns->list[column].node];
}

bool memory_columns_uses(const MemoryColumns *columns, int usage)
{
    for (int c = 0; c < columns->n; c++) {
        if (columns->list[c].usage[usage] > 0) return true;
    }
    return false;
}

void memory_columns_peak(const MemoryColumns *columns, char *out, size_t size)
{
    const Node *node = memory_columns_node(columns, columns->peak);
    snprintf(out, size, "peak %s: %s, %s (%s)",
             human_bytes((double)columns->list[columns->peak].total).s,
             plan_phase_name(node->phase), node->scope, plan_op_name(node->op));
}
