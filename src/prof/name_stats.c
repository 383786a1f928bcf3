#include "prof/name_stats.h"

#include "base/array.h"

#include <stdlib.h>

static Status append(NameStatsTable *names, const TraceEvent *event, int row)
{
    TRY(array_grow(&names->list, (size_t)names->n, 1, sizeof *names->list));
    names->list[names->n++] = (NameStats){.kind = event->kind, .name = event->name, .row = row};
    return ST_OK;
}

Status name_stats_add(NameStatsTable *names, const TraceEvent *event, int row)
{
    int i = 0;
    while (i < names->n && (names->list[i].row != row || names->list[i].name != event->name)) i++;
    if (i == names->n) TRY(append(names, event, row));
    NameStats *at = &names->list[i];
    if (event->kind == TRACE_COPY || event->kind == TRACE_SET)
        TRY(running_stats_add(&at->bytes, (double)event->gpu.bytes));
    return running_stats_add(&at->seconds, (double)(event->end - event->begin) * 1e-9);
}

void name_stats_free(NameStatsTable *names)
{
    for (int i = 0; i < names->n; i++) {
        running_stats_free(&names->list[i].seconds);
        running_stats_free(&names->list[i].bytes);
    }
    free(names->list);
    *names = (NameStatsTable){0};
}
