#include "report/profile/nsys_profile.h"

#include "base/array.h"
#include "base/json_text.h"
#include "bench/study/profile_record.h"
#include "prof/gpu_stats.h"
#include "prof/kernel_name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An event of a trace. */
typedef struct Event {
    const char *name, *device; /* the log's */
    int64_t begin, end;
} Event;

struct NsysProfile {
    json_t *files, *missing;
    json_t *index; /* of `names`, by name */
    json_t *names, *grids, *calls, *nvtx, *projected, *phase_kernels, *os_calls;
    TraceLog log;  /* names alone */
    Event *events; /* of the trace at hand */
    size_t n_events;
    HostGaps gaps;
    /* of the file at hand */
    NsysInput input;
    bool kernels_known, memory_known; /* by files before it */
    bool kernels, memory;             /* by it */
};

Status nsys_profile_open(NsysProfile **out)
{
    NsysProfile *p = calloc(1, sizeof *p);
    if (!p) return NO_MEMORY("for a profile");
    json_t **const lists[] = {&p->files, &p->missing,   &p->names,         &p->grids,   &p->calls,
                              &p->nvtx,  &p->projected, &p->phase_kernels, &p->os_calls};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) *lists[i] = json_array();
    p->index = json_object();
    *out = p;
    return ST_OK;
}

void nsys_profile_close(NsysProfile **profile)
{
    NsysProfile *p = *profile;
    if (!p) return;
    json_t *const lists[] = {p->files, p->missing,   p->names,         p->grids,   p->calls,
                             p->nvtx,  p->projected, p->phase_kernels, p->os_calls};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) json_decref(lists[i]);
    json_decref(p->index);
    trace_log_free(&p->log);
    free(p->events);
    free(p);
}

/* ---- names ---- */

/* Older nsys wrote "[CUDA memcpy HtoD]". */
static const char *modern(const char *name)
{
    static const char *const pairs[][2] = {
        {"[CUDA memcpy HtoD]", "[CUDA memcpy Host-to-Device]"},
        {"[CUDA memcpy DtoH]", "[CUDA memcpy Device-to-Host]"},
        {"[CUDA memcpy DtoD]", "[CUDA memcpy Device-to-Device]"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(name, pairs[i][0]) == 0) return pairs[i][1];
    }
    return name;
}

static bool starts(const char *name, const char *word)
{
    return strncmp(name, word, strlen(word)) == 0;
}

/* What a file of memory operations names is none, whatever its name. */
static const char *kind_of(NsysInput input, const char *name)
{
    const bool memory = input == NSYS_INPUT_MEMORY_TIME || input == NSYS_INPUT_MEMORY_SIZE;
    if (starts(name, "[CUDA memset")) return "memset";
    return memory || starts(name, "[CUDA ") ? "copy" : "kernel";
}

/* ":forward": a range of the default domain. */
static const char *range_name(const char *name)
{
    return *name == ':' && name[1] ? name + 1 : name;
}

/* ---- rows as JSON ---- */

static json_t *known(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *stats_of_row(const NsysRow *row)
{
    return json_pack("{s:I, s:f, s:f, s:o, s:o, s:o, s:o}", "n", (json_int_t)row->n, "total",
                     row->total, "avg", row->avg, "med", known(row->med), "min", known(row->min),
                     "max", known(row->max), "std", known(row->std));
}

static Status append(const NsysProfile *p, json_t *list, const char *name, json_t *time)
{
    char brief[128];
    kernel_name_short(name, brief, sizeof brief);
    json_t *text = json_string(name), *cut = json_string(brief);
    if (!text || !cut) { /* a short name may have been cut within a character */
        json_decref(cut);
        cut = json_incref(text);
    }
    if (!text) {
        json_decref(time);
        return FAIL(ST_USAGE, "a name is not UTF-8 text");
    }
    json_t *item = json_pack("{s:o, s:o, s:s, s:o, s:n}", "name", text, "short", cut, "kind",
                             kind_of(p->input, name), "time", time, "bytes");
    return json_array_append_new(list, item) == 0 ? ST_OK : NO_MEMORY("for a profile");
}

static json_t *last_of(json_t *list)
{
    return json_array_get(list, json_array_size(list) - 1);
}

static Status append_name(NsysProfile *p, const char *name, json_t *time)
{
    TRY(append(p, p->names, name, time));
    json_object_set(p->index, name, last_of(p->names));
    return ST_OK;
}

/* Kernels and memory operations, each from the first file that has any. */
static Status add_name(NsysProfile *p, const char *name, json_t *time)
{
    const bool kernel = strcmp(kind_of(p->input, name), "kernel") == 0;
    if (kernel ? p->kernels_known : p->memory_known) {
        json_decref(time);
        return ST_OK;
    }
    *(kernel ? &p->kernels : &p->memory) = true;
    return append_name(p, name, time);
}

static Status add_grid(NsysProfile *p, const NsysRow *row)
{
    CLEANUP(text_free) Text name = {0};
    text_printf(&name, "%s, grid %s, block %s", row->name, row->group, row->group2);
    TRY(text_status(&name));
    return append(p, p->grids, text_str(&name), stats_of_row(row));
}

static Status add_in_range(NsysProfile *p, const NsysRow *row)
{
    CLEANUP(json_text_free) json_t *range = json_string(range_name(row->group));
    if (!range) return FAIL(ST_USAGE, "the name of a range is not UTF-8 text");
    Status status = append(p, p->phase_kernels, row->name, stats_of_row(row));
    if (status == ST_OK) json_object_set(last_of(p->phase_kernels), "phase", range);
    return status;
}

static Status add_projected(NsysProfile *p, const NsysRow *row)
{
    TRY(append(p, p->projected, range_name(row->name), stats_of_row(row)));
    json_object_set_new(last_of(p->projected), "ops", known(row->ops));
    return ST_OK;
}

/* Sizes go to the operation of that name; one whose time nobody tells has none. */
static Status set_size(NsysProfile *p, const NsysRow *row)
{
    const char *name = modern(row->name);
    json_t *found = json_object_get(p->index, name);
    if (!found) {
        TRY(append_name(p, name, json_null()));
        found = last_of(p->names);
    }
    json_object_set_new(found, "bytes", stats_of_row(row));
    return ST_OK;
}

/* ---- traces ---- */

static Status keep_event(NsysProfile *p, const Event *event)
{
    TRY(array_grow(&p->events, p->n_events, 1, sizeof *p->events));
    p->events[p->n_events++] = *event;
    return ST_OK;
}

static Status add_event(NsysProfile *p, const NsysRow *row)
{
    enum { MOST_NAMES = 1 << 16 }; /* far more than any program has kernels or ranges */
    const bool range = p->input == NSYS_INPUT_RANGE_TRACE;
    const Event event = {
        .name = trace_log_name(&p->log, range ? range_name(row->name) : modern(row->name)),
        .device = trace_log_name(&p->log, row->group),
        .begin = (int64_t)row->start,
        .end = (int64_t)(row->start + row->total)};
    if (!event.name || !event.device) return NO_MEMORY("for a name");
    if (p->log.n_names > MOST_NAMES) return FAIL(ST_USAGE, "more than %d names", MOST_NAMES);
    return keep_event(p, &event);
}

static int by_name(const void *a, const void *b)
{
    const Event *x = a, *y = b; /* equal names are one pointer */
    const uintptr_t p = (uintptr_t)x->name, q = (uintptr_t)y->name;
    return (p > q) - (p < q);
}

static int by_device_and_begin(const void *a, const void *b)
{
    const Event *x = a, *y = b;
    const int order = strcmp(x->device, y->device);
    if (order) return order;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void add_gaps(NsysProfile *p)
{
    qsort(p->events, p->n_events, sizeof *p->events, by_device_and_begin);
    for (size_t i = 0; i < p->n_events; i++) {
        const Event *e = &p->events[i];
        if (i == 0 || e->device != p->events[i - 1].device) p->gaps.begun = false;
        gpu_stats_gaps_add(&p->gaps, e->name, e->begin, e->end);
    }
}

/* The events under the name of the first; `next` is behind them. */
static Status add_sum(NsysProfile *p, size_t first, size_t *next)
{
    RunningStats seconds = {0};
    const char *name = p->events[first].name;
    for (*next = first; *next < p->n_events && p->events[*next].name == name; ++*next)
        running_stats_add(&seconds, (double)(p->events[*next].end - p->events[*next].begin) * 1e-9);
    json_t *time = profile_record_stats(&seconds, 1e9);
    return p->input == NSYS_INPUT_RANGE_TRACE ? append(p, p->nvtx, name, time)
                                              : add_name(p, name, time);
}

/* What a trace adds up to, where no file of sums has told it, and its gaps. */
static Status add_trace(NsysProfile *p)
{
    const bool range = p->input == NSYS_INPUT_RANGE_TRACE;
    if (p->n_events == 0 || (range && json_array_size(p->nvtx) > 0)) return ST_OK;
    qsort(p->events, p->n_events, sizeof *p->events, by_name);
    for (size_t i = 0; i < p->n_events;) TRY(add_sum(p, i, &i));
    if (!range) add_gaps(p);
    return ST_OK;
}

/* ---- files ---- */

static Status take_row(void *self, const NsysRow *row)
{
    NsysProfile *p = self;
    switch (p->input) {
    case NSYS_INPUT_KERNELS:
    case NSYS_INPUT_KERNELS_BASE:
    case NSYS_INPUT_ALL:
    case NSYS_INPUT_MEMORY_TIME:
        return add_name(p, modern(row->name), stats_of_row(row));
    case NSYS_INPUT_GRIDS:
        return add_grid(p, row);
    case NSYS_INPUT_MEMORY_SIZE:
        return set_size(p, row);
    case NSYS_INPUT_CALLS:
        return append(p, p->calls, row->name, stats_of_row(row));
    case NSYS_INPUT_OS:
        return append(p, p->os_calls, row->name, stats_of_row(row));
    case NSYS_INPUT_RANGES:
    case NSYS_INPUT_PUSHPOP:
        return append(p, p->nvtx, range_name(row->name), stats_of_row(row));
    case NSYS_INPUT_PROJECTION:
        return add_projected(p, row);
    case NSYS_INPUT_RANGE_KERNELS:
        return add_in_range(p, row);
    case NSYS_INPUT_TRACE:
    case NSYS_INPUT_RANGE_TRACE:
        return add_event(p, row);
    case NSYS_INPUT_COUNT:
        break;
    }
    return ST_OK;
}

static Status skip_row(void *self, const NsysRow *row)
{
    (void)self;
    (void)row;
    return ST_OK;
}

Status nsys_profile_add(NsysProfile *p, NsysInput input, const char *file, const char *text,
                        size_t n)
{
    CLEANUP(text_free) Text missing = {0};
    const bool again =
        input == NSYS_INPUT_PUSHPOP && json_array_size(p->nvtx) > 0; /* nvtx_sum has them */
    const NsysTable table = {
        .input = input, .self = p, .row = again ? skip_row : take_row, .missing = &missing};
    p->input = input;
    p->n_events = 0;
    Status status = nsys_table_read(&table, text, n);
    if (status == ST_OK && (input == NSYS_INPUT_TRACE || input == NSYS_INPUT_RANGE_TRACE))
        status = add_trace(p);
    p->kernels_known = p->kernels_known || p->kernels;
    p->memory_known = p->memory_known || p->memory;
    json_array_append_new(p->files, json_string(file));
    if (missing.n)
        json_array_append_new(p->missing,
                              json_pack("{s:s, s:s}", "file", file, "columns", text_str(&missing)));
    return status;
}

/* ---- the profile ---- */

static double time_of(const json_t *names, bool kernels)
{
    double sum = 0;
    size_t i;
    json_t *item;
    json_array_foreach(names, i, item)
    {
        const char *kind = json_string_value(json_object_get(item, "kind"));
        if ((strcmp(kind, "kernel") == 0) == kernels)
            sum += json_number_value(json_object_get(json_object_get(item, "time"), "total"));
    }
    return sum;
}

Status nsys_profile_finish(NsysProfile *p, json_t *list, const char *prefix, size_t n)
{
    json_t *gpu = json_pack("{s:f, s:f, s:o}", "compute", time_of(p->names, true), "copies",
                            time_of(p->names, false), "gaps", profile_record_gaps(&p->gaps));
    json_t *profile =
        json_pack("{s:s, s:i, s:i, s:i, s:f, s:o, s:O, s:O, s:O, s:O, s:O, s:O, s:O}", "from",
                  "nsys stats", "steps", 1, "traced_steps", 0, "events_left_out", 0, "loop", 0.0,
                  "gpu", gpu, "kernel_names", p->names, "kernel_grids", p->grids, "phase_kernels",
                  p->phase_kernels, "calls", p->calls, "nvtx_ranges", p->nvtx, "nvtx_projected",
                  p->projected, "os_calls", p->os_calls);
    json_t *item = json_pack("{s:s%, s:O, s:O, s:o}", "prefix", prefix, n, "files", p->files,
                             "missing", p->missing, "profile", profile);
    return item && json_array_append_new(list, item) == 0 ? ST_OK : NO_MEMORY("for a profile");
}
