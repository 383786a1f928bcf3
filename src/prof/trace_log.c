#include "prof/trace_log.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024 };

Status trace_log_add(TraceLog *log, const TraceEvent *event)
{
    if (log->n == TRACE_LOG_MOST) {
        log->left_out++;
        return ST_OK;
    }
    if (log->n == log->capacity) {
        const size_t capacity = log->capacity ? 2 * log->capacity : FIRST_CAPACITY;
        TraceEvent *grown = realloc(log->events, capacity * sizeof *grown);
        if (!grown) return FAIL(ST_NO_MEMORY, "no memory for %zu events", capacity);
        log->events = grown;
        log->capacity = capacity;
    }
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
    if (log->n_names == log->names_capacity) {
        const size_t capacity = log->names_capacity ? 2 * log->names_capacity : FIRST_CAPACITY;
        char **grown = realloc(log->names, capacity * sizeof *grown);
        if (!grown) return NULL;
        log->names = grown;
        log->names_capacity = capacity;
    }
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
