#include "base/array.h"
#include "base/json_text.h"
#include "report/findings/result_input.h"
#include "report/findings/trace_event.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

/* Ranges contain ops, and would hide them. */
static const char *track_of(const json_t *event)
{
    static const char *const host[] = {"cpu_op", "cuda_runtime", "cuda_driver"};
    static const char *const device[] = {"kernel", "gpu_memcpy", "gpu_memset"};
    const char *category = trace_event_word(event, "cat");
    for (size_t i = 0; i < sizeof host / sizeof *host; i++) {
        if (strcmp(category, host[i]) == 0) return i == 0 ? "host: ops" : "host: calls";
        if (strcmp(category, device[i]) == 0) return "device";
    }
    return NULL;
}

static int layer_of(const json_t *event)
{
    int layer = -1;
    const char *scope = trace_event_word(json_object_get(event, "args"), "scope");
    return sscanf(scope, "layer.%d/", &layer) == 1 ? layer : -1;
}

/* ---- which layer, which step ---- */

typedef struct Window {
    const json_t *events;
    int layer;
    double begin, end; /* of the step, us */
} Window;

static int last_layer(const json_t *events)
{
    int last = -1;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const int layer = layer_of(json_array_get(events, i));
        if (layer > last) last = layer;
    }
    return last;
}

/* The first: warm-ups came before it, and the last is empty. Without steps, everything. */
static void find_step(Window *w)
{
    w->begin = w->end = INFINITY;
    for (size_t i = 0; i < json_array_size(w->events); i++) {
        const json_t *event = json_array_get(w->events, i);
        if (!trace_event_is_slice(event) ||
            strncmp(trace_event_word(event, "name"), "ProfilerStep#", 13) != 0)
            continue;
        if (strcmp(trace_event_word(event, "cat"), "user_annotation") != 0 ||
            record_real(event, "dur") <= 0)
            continue;
        const double begin = record_real(event, "ts");
        if (begin >= w->begin) continue;
        w->begin = begin;
        w->end = begin + record_real(event, "dur");
    }
    if (isinf(w->begin)) w->begin = 0;
}

static bool belongs(const Window *w, const json_t *event, const char *phase)
{
    if (!trace_event_is_slice(event) || !track_of(event) || layer_of(event) != w->layer)
        return false;
    if (strcmp(trace_event_word(json_object_get(event, "args"), "phase"), phase) != 0) return false;
    return record_real(event, "ts") >= w->begin && record_real(event, "ts") <= w->end;
}

/* ---- one phase ---- */

static json_t *track_named(json_t *tracks, const char *name)
{
    for (size_t i = 0; i < json_array_size(tracks); i++) {
        json_t *track = json_array_get(tracks, i);
        if (strcmp(trace_event_word(track, "name"), name) == 0)
            return json_object_get(track, "events");
    }
    CLEANUP(json_text_free) json_t *events = json_array();
    json_t *track = json_pack("{s:s, s:O}", "name", name, "events", events);
    return json_array_append_new(tracks, track) == 0 ? events : NULL;
}

typedef struct TimedEvent {
    const json_t *event;
    double begin;
    size_t index;
} TimedEvent;

/* Those that begin together stay as they are. */
static int by_begin(const void *a, const void *b)
{
    const TimedEvent *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static Status add_event(json_t *tracks, const Window *w, const json_t *event)
{
    json_t *events = track_named(tracks, track_of(event));
    const char *scope = trace_event_word(json_object_get(event, "args"), "scope");
    json_t *made = json_pack("[s, s, f, f]", trace_event_word(event, "name"), scope,
                             record_real(event, "ts") - w->begin, record_real(event, "dur"));
    return !events || !made || json_array_append_new(events, made) ? NO_MEMORY("for a timeline")
                                                                   : ST_OK;
}

static Status add_phase(json_t *phases, const Window *w, const char *phase)
{
    const size_t all = json_array_size(w->events);
    double end = -INFINITY;
    size_t n = 0;
    CLEANUP(json_text_free) json_t *tracks = json_array();
    CLEANUP(array_free) TimedEvent *list = malloc((all + 1) * sizeof *list);
    if (!tracks || !list) return NO_MEMORY("for a timeline");
    for (size_t i = 0; i < all; i++) {
        const json_t *event = json_array_get(w->events, i);
        if (!belongs(w, event, phase)) continue;
        if (!track_named(tracks, track_of(event))) return NO_MEMORY("for a timeline");
        list[n++] = (TimedEvent){event, record_real(event, "ts"), i};
        end = fmax(end, record_real(event, "ts") + record_real(event, "dur"));
    }
    qsort(list, n, sizeof *list, by_begin);
    for (size_t i = 0; i < n; i++) TRY(add_event(tracks, w, list[i].event));
    if (n == 0 || end <= list[0].begin) return ST_OK;
    json_t *made = json_pack("{s:s, s:f, s:f, s:O}", "phase", phase, "begin_us",
                             list[0].begin - w->begin, "end_us", end - w->begin, "tracks", tracks);
    return json_array_append_new(phases, made) ? NO_MEMORY("for a timeline") : ST_OK;
}

Status layer_timeline_make(json_t **out, const json_t *trace)
{
    char name[32];
    Window w = {.events = json_object_get(trace, "traceEvents")};
    *out = NULL;
    w.layer = last_layer(w.events) / 2;
    find_step(&w);
    CLEANUP(json_text_free) json_t *phases = json_array();
    TRY(add_phase(phases, &w, "forward"));
    TRY(add_phase(phases, &w, "backward"));
    if (json_array_size(phases) == 0) return ST_OK;
    snprintf(name, sizeof name, "layer.%d", w.layer);
    *out = json_pack("{s:s, s:O}", "layer", name, "phases", phases);
    return *out ? ST_OK : NO_MEMORY("for a timeline");
}
