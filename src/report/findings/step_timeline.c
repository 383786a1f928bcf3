#include "base/json_text.h"
#include "report/findings/result_input.h"
#include "report/findings/trace_event.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_step(const json_t *event)
{
    return trace_event_is_slice(event) &&
           strcmp(trace_event_word(event, "cat"), "user_annotation") == 0 &&
           strncmp(trace_event_word(event, "name"), "ProfilerStep#", 13) == 0;
}

/* ---- which step ---- */

typedef struct Window {
    const json_t *events;
    double process;    /* rank 0's */
    double begin, end; /* us */
} Window;

static void find_process(Window *w)
{
    w->process = INFINITY;
    for (size_t i = 0; i < json_array_size(w->events); i++) {
        const json_t *event = json_array_get(w->events, i);
        if (is_step(event)) w->process = fmin(w->process, record_real(event, "pid"));
    }
}

/* How many steps of the process are shorter than this one; `*all` of them. */
static int count_shorter(const Window *w, double time, int *all)
{
    int shorter = 0;
    *all = 0;
    for (size_t i = 0; i < json_array_size(w->events); i++) {
        const json_t *event = json_array_get(w->events, i);
        if (!is_step(event) || record_real(event, "pid") != w->process) continue;
        shorter += record_real(event, "dur") < time;
        ++*all;
    }
    return shorter;
}

/* The one in the middle by time: half of them are not longer. The last one is the end, and empty. */
static bool find_step(Window *w)
{
    int best = -1;
    for (size_t i = 0; i < json_array_size(w->events); i++) {
        const json_t *event = json_array_get(w->events, i);
        if (!is_step(event) || record_real(event, "pid") != w->process) continue;
        int all = 0;
        const int shorter = count_shorter(w, record_real(event, "dur"), &all);
        if (shorter > all / 2 || shorter <= best) continue;
        best = shorter;
        w->begin = record_real(event, "ts");
        w->end = w->begin + record_real(event, "dur");
    }
    return best >= 0;
}

/* ---- its tracks ---- */

static const char *const tracks[] = {"phases", "work", "waits", "communication"};
enum { PHASES, WORK, WAITS, COMMUNICATION, TRACKS = sizeof tracks / sizeof *tracks };

/* -1: it is in none. */
static int track_of(const json_t *event)
{
    const char *name = trace_event_word(event, "name"), *category = trace_event_word(event, "cat");
    const json_t *args = json_object_get(event, "args");
    if (strcmp(category, "user_annotation") == 0) {
        const bool phase = strcmp(name, "forward") == 0 || strcmp(name, "backward") == 0 ||
                           strcmp(name, "optimizer") == 0;
        return phase ? PHASES : -1;
    }
    if (strcmp(category, "cpu_op") != 0) return -1;
    if (strncmp(name, "wait for ", 9) == 0) return WAITS;
    return strcmp(trace_event_word(args, "category"), "communication") == 0 ? COMMUNICATION : WORK;
}

static json_t *event_json(const Window *w, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    const char *phase = trace_event_word(args, "phase"), *what = trace_event_word(args, "tensor");
    if (!*what) what = trace_event_word(args, "scope");
    CLEANUP(text_free) Text name = {0};
    text_printf(&name, "%s%s%s", trace_event_word(event, "name"), *what ? " " : "", what);
    if (text_status(&name) != ST_OK) return NULL;
    return json_pack("[o, s, f, f]", json_text_string(text_str(&name)),
                     *phase ? phase : trace_event_word(event, "name"),
                     record_real(event, "ts") - w->begin, record_real(event, "dur"));
}

static Status add_events(json_t *const events[TRACKS], const Window *w)
{
    double phase_end = w->begin; /* a phase may have a range of its name in it */
    for (size_t i = 0; i < json_array_size(w->events); i++) {
        const json_t *event = json_array_get(w->events, i);
        const int track = trace_event_is_slice(event) ? track_of(event) : -1;
        if (track < 0 || record_real(event, "pid") != w->process) continue;
        const double begin = record_real(event, "ts"), end = begin + record_real(event, "dur");
        if (begin < w->begin || begin >= w->end) continue;
        if (track == PHASES && begin < phase_end) continue;
        if (track == PHASES) phase_end = end;
        json_t *made = event_json(w, event);
        if (!made || json_array_append_new(events[track], made)) return NO_MEMORY("for a timeline");
    }
    return ST_OK;
}

static Status put_tracks(json_t *list, const Window *w)
{
    json_t *events[TRACKS];
    for (int t = 0; t < TRACKS; t++) {
        json_t *track = json_pack("{s:s, s:[]}", "name", tracks[t], "events");
        events[t] = json_object_get(track, "events");
        if (json_array_append_new(list, track)) return NO_MEMORY("for a timeline");
    }
    return add_events(events, w);
}

Status step_timeline_make(json_t **out, const json_t *trace)
{
    Window w = {.events = json_object_get(trace, "traceEvents")};
    CLEANUP(json_text_free) json_t *list = json_array();
    *out = NULL;
    const json_t *ranks = json_object_get(trace, "distributedInfo");
    if (!(record_real(ranks, "world_size") > 1)) return ST_OK;
    find_process(&w);
    if (!find_step(&w)) return ST_OK;
    if (!list) return NO_MEMORY("for a timeline");
    TRY(put_tracks(list, &w));
    *out = json_pack("{s:f, s:O}", "end_us", w.end - w.begin, "tracks", list);
    return *out ? ST_OK : NO_MEMORY("for a timeline");
}
