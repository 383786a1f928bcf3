#include "report/profile/nsys_profile.h"

#include "base/array.h"
#include "base/json_text.h"
#include "bench/study/profile_record.h"
#include "prof/gpu_stats.h"
#include "prof/kernel_name.h"

#include <stdlib.h>
#include <string.h>

/* An event of a trace. */
typedef struct Event {
    const char *name, *device; /* the log's */
    int64_t begin, end;
} Event;

/* What several files may tell; the first one that does counts. */
typedef enum Topic { KERNELS, MEMORY, RANGES, TOPICS } Topic;

struct NsysProfile {
    json_t *item;     /* what nsys_profile_finish() appends */
    json_t *profile;  /* of the item */
    json_t *index;    /* of its "kernel_names", by name */
    NsysInput input;  /* of the file at hand */
    int told[TOPICS]; /* by which input, plus one; 0: by none */
    TraceLog log;     /* names alone */
    Event *events;    /* of the trace at hand */
    size_t n_events;
    HostGaps gaps;
};

Status nsys_profile_open(NsysProfile **out)
{
    NsysProfile *p = *out = calloc(1, sizeof *p);
    if (!p) return NO_MEMORY("for a profile");
    p->index = json_object();
    p->profile =
        json_pack("{s:s, s:i, s:i, s:i, s:f, s:n, s:[], s:[], s:[], s:[], s:[], s:[], s:[]}",
                  "from", "nsys stats", "steps", 1, "traced_steps", 0, "events_left_out", 0, "loop",
                  0.0, "gpu", "kernel_names", "kernel_grids", "phase_kernels", "calls",
                  "nvtx_ranges", "nvtx_projected", "os_calls");
    p->item =
        json_pack("{s:n, s:[], s:[], s:O}", "prefix", "files", "missing", "profile", p->profile);
    return p->item && p->index ? ST_OK : NO_MEMORY("for a profile");
}

void nsys_profile_close(NsysProfile **profile)
{
    NsysProfile *p = *profile;
    if (!p) return;
    json_decref(p->item);
    json_decref(p->profile);
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

static json_t *stats_of_row(const NsysRow *row)
{
    return json_pack("{s:I, s:f, s:f, s:o, s:o, s:o, s:o}", "n", (json_int_t)row->n, "total",
                     row->total, "avg", row->avg, "med", json_text_real(row->med), "min",
                     json_text_real(row->min), "max", json_text_real(row->max), "std",
                     json_text_real(row->std));
}

/* Appends to a list of the profile; `*item` is the list's. */
static Status append(const NsysProfile *p, const char *list, const char *name, json_t *time,
                     json_t **item)
{
    char brief[128];
    kernel_name_short(name, brief, sizeof brief);
    json_t *text = json_string(name), *cut = json_string(brief);
    if (!cut) cut = json_incref(text); /* it may have been cut within a character */
    if (!text) {
        json_decref(cut);
        json_decref(time);
        return FAIL(ST_USAGE, "a name is not UTF-8 text");
    }
    *item = json_pack("{s:o, s:o, s:s, s:o, s:n}", "name", text, "short", cut, "kind",
                      kind_of(p->input, name), "time", time, "bytes");
    return json_array_append_new(json_object_get(p->profile, list), *item) == 0
               ? ST_OK
               : NO_MEMORY("for a profile");
}

static Status append_name(const NsysProfile *p, const char *name, json_t *time, json_t **item)
{
    TRY(append(p, "kernel_names", name, time, item));
    return json_object_set(p->index, name, *item) == 0 ? ST_OK : NO_MEMORY("for a profile");
}

/* Is the file at hand the first to tell of it? */
static bool is_first(NsysProfile *p, Topic topic)
{
    if (p->told[topic] == 0) p->told[topic] = (int)p->input + 1;
    return p->told[topic] == (int)p->input + 1;
}

/* A kernel, memory operation or range, unless another file tells of such. */
static Status add_name(NsysProfile *p, Topic topic, const char *name, json_t *time)
{
    json_t *item;
    if (topic != RANGES && strcmp(kind_of(p->input, name), "kernel") != 0) topic = MEMORY;
    if (is_first(p, topic))
        return topic == RANGES ? append(p, "nvtx_ranges", name, time, &item)
                               : append_name(p, name, time, &item);
    json_decref(time);
    return ST_OK;
}

static Status add_grid(NsysProfile *p, const NsysRow *row)
{
    CLEANUP(text_free) Text name = {0};
    json_t *item;
    text_printf(&name, "%s, grid %s, block %s", row->name, row->group, row->group2);
    TRY(text_status(&name));
    return append(p, "kernel_grids", text_str(&name), stats_of_row(row), &item);
}

static Status add_in_range(NsysProfile *p, const NsysRow *row)
{
    CLEANUP(json_text_free) json_t *range = json_string(range_name(row->group));
    json_t *item;
    if (!range) return FAIL(ST_USAGE, "the name of a range is not UTF-8 text");
    TRY(append(p, "phase_kernels", row->name, stats_of_row(row), &item));
    json_object_set(item, "phase", range);
    return ST_OK;
}

static Status add_projected(NsysProfile *p, const NsysRow *row)
{
    json_t *item;
    TRY(append(p, "nvtx_projected", range_name(row->name), stats_of_row(row), &item));
    json_object_set_new(item, "ops", json_text_real(row->ops));
    return ST_OK;
}

/* Sizes go to the operation of that name; one whose time nobody tells has none. */
static Status set_size(NsysProfile *p, const NsysRow *row)
{
    const char *name = modern(row->name);
    json_t *item = json_object_get(p->index, name);
    if (!item) TRY(append_name(p, name, json_null(), &item));
    json_object_set_new(item, "bytes", stats_of_row(row));
    return ST_OK;
}

/* ---- traces ---- */

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
    TRY(array_grow(&p->events, p->n_events, 1, sizeof *p->events));
    p->events[p->n_events++] = event;
    return ST_OK;
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

/* `n` events of one name. */
static Status add_sum(NsysProfile *p, const Event *events, size_t n)
{
    RunningStats seconds = {0};
    for (size_t i = 0; i < n; i++)
        running_stats_add(&seconds, (double)(events[i].end - events[i].begin) * 1e-9);
    return add_name(p, p->input == NSYS_INPUT_RANGE_TRACE ? RANGES : KERNELS, events->name,
                    profile_record_stats(&seconds, 1e9));
}

/* What a trace adds up to, where no file of sums has told it, and its gaps. */
static Status add_trace(NsysProfile *p)
{
    if (p->n_events == 0) return ST_OK;
    qsort(p->events, p->n_events, sizeof *p->events, by_name);
    for (size_t i = 0, n; i < p->n_events; i += n) {
        for (n = 1; i + n < p->n_events && p->events[i + n].name == p->events[i].name;) n++;
        TRY(add_sum(p, &p->events[i], n));
    }
    if (p->input != NSYS_INPUT_RANGE_TRACE) add_gaps(p);
    return ST_OK;
}

/* ---- files ---- */

static Status take_row(void *self, const NsysRow *row)
{
    NsysProfile *p = self;
    json_t *item;
    switch (p->input) {
    case NSYS_INPUT_KERNELS:
    case NSYS_INPUT_KERNELS_BASE:
    case NSYS_INPUT_ALL:
    case NSYS_INPUT_MEMORY_TIME:
        return add_name(p, KERNELS, modern(row->name), stats_of_row(row));
    case NSYS_INPUT_GRIDS:
        return add_grid(p, row);
    case NSYS_INPUT_MEMORY_SIZE:
        return set_size(p, row);
    case NSYS_INPUT_CALLS:
        return append(p, "calls", row->name, stats_of_row(row), &item);
    case NSYS_INPUT_OS:
        return append(p, "os_calls", row->name, stats_of_row(row), &item);
    case NSYS_INPUT_RANGES:
    case NSYS_INPUT_PUSHPOP:
        return add_name(p, RANGES, range_name(row->name), stats_of_row(row));
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

Status nsys_profile_add(NsysProfile *p, NsysInput input, const char *file, const char *text,
                        size_t n)
{
    CLEANUP(text_free) Text missing = {0};
    const NsysTable table = {.input = input, .self = p, .row = take_row, .missing = &missing};
    p->input = input;
    p->n_events = 0;
    Status status = nsys_table_read(&table, text, n);
    if (status == ST_OK && (input == NSYS_INPUT_TRACE || input == NSYS_INPUT_RANGE_TRACE))
        status = add_trace(p);
    json_array_append_new(json_object_get(p->item, "files"), json_string(file));
    if (missing.n)
        json_array_append_new(json_object_get(p->item, "missing"),
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
    const json_t *names = json_object_get(p->profile, "kernel_names");
    json_t *gpu = json_pack("{s:f, s:f, s:o}", "compute", time_of(names, true), "copies",
                            time_of(names, false), "gaps", profile_record_gaps(&p->gaps));
    const bool whole = json_object_set_new(p->profile, "gpu", gpu) == 0 &&
                       json_object_set_new(p->item, "prefix", json_stringn(prefix, n)) == 0 &&
                       json_array_append(list, p->item) == 0;
    return whole ? ST_OK : NO_MEMORY("for a profile");
}
