#include "prof/trace_log.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

Status trace_log_add(TraceLog *log, const TraceEvent *event)
{
    if (log->n == TRACE_LOG_MOST) {
        log->left_out++;
        return ST_OK;
    }
    TRY(array_grow(&log->events, log->n, 1, sizeof *log->events));
    log->events[log->n++] = *event;
    return ST_OK;
}

/* The place of the name in the sorted list, or where it belongs. */
static size_t place_of(const TraceLog *log, const char *name, bool *found)
{
    size_t low = 0, high = log->n_names;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const int order = strcmp(log->names[middle], name);
        if ((*found = order == 0)) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *trace_log_name(TraceLog *log, const char *name)
{
    bool found = false;
    const size_t place = place_of(log, name, &found);
    if (found) return log->names[place];
    if (array_grow(&log->names, log->n_names, 1, sizeof *log->names) != ST_OK) return NULL;
    char *copy = strdup(name);
    if (!copy) return NULL;
    memmove(log->names + place + 1, log->names + place,
            (log->n_names - place) * sizeof *log->names);
    log->names[place] = copy;
    log->n_names++;
    return copy;
}

void trace_log_free(TraceLog *log)
{
    for (size_t i = 0; i < log->n_names; i++) free(log->names[i]);
    free(log->names);
    free(log->events);
    *log = (TraceLog){0};
}
