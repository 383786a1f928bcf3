#include "base/array.h"
#include "report/validate/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A slice, or an end of an arrow, by its place. */
typedef struct Slice {
    json_int_t pid, tid;
    int64_t begin, end; /* ns */
    size_t index;
} Slice;

/* A call, or what it launched. */
typedef struct Pair {
    json_int_t correlation, graph_node;
} Pair;

typedef struct Found {
    Slice *slices;
    Pair *calls, *launched;
    json_int_t *starts, *ends; /* of flows */
    size_t n_slices, n_calls, n_launched, n_starts, n_ends, n_steps;
} Found;

static void free_found(Found *f)
{
    void *const arrays[] = {f->slices, f->calls, f->launched, f->starts, f->ends};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* us: some thirty years, of which ns are whole numbers */
static const double longest = 1e15;

static int64_t ns_of(const json_t *event, const char *name)
{
    return (int64_t)llround(json_number_value(json_object_get(event, name)) * 1000);
}

static bool on_gpu(const char *category)
{
    return strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
           strcmp(category, "gpu_memset") == 0;
}

static bool is_call(const char *category)
{
    return strcmp(category, "cuda_runtime") == 0 || strcmp(category, "cuda_driver") == 0;
}

/* ---- one event ---- */

static Status take_slice(Found *f, const json_t *e, size_t i)
{
    const char *category = text_of(e, "cat");
    const json_t *args = json_object_get(e, "args"), *stream = json_object_get(args, "stream");
    const Pair pair = {json_integer_value(json_object_get(args, "correlation")),
                       json_integer_value(json_object_get(args, "graph node id"))};
    const double duration = json_number_value(json_object_get(e, "dur"));
    if (!json_is_number(json_object_get(e, "dur")) || !*category || !json_is_object(args))
        return FAIL(ST_FAILED, "event %zu lacks dur, cat or args", i);
    if (duration < 0) return FAIL(ST_FAILED, "event %zu ends before it begins", i);
    if (duration > longest || fabs(json_number_value(json_object_get(e, "ts"))) > longest)
        return FAIL(ST_FAILED, "event %zu: its ts or dur is beyond %g us", i, longest);
    if (on_gpu(category) != (stream != NULL) || (stream && json_integer_value(stream) <= 0))
        return FAIL(ST_FAILED, "event %zu: a stream is for what runs on a GPU", i);
    if (on_gpu(category)) f->launched[f->n_launched++] = pair;
    if (is_call(category) && pair.correlation) f->calls[f->n_calls++] = pair;
    if (strncmp(text_of(e, "name"), "ProfilerStep#", 13) == 0) f->n_steps++;
    const int64_t begin = ns_of(e, "ts");
    f->slices[f->n_slices++] =
        (Slice){json_integer_value(json_object_get(e, "pid")),
                json_integer_value(json_object_get(e, "tid")), begin, begin + ns_of(e, "dur"), i};
    return ST_OK;
}

static Status take(Found *f, const json_t *e, size_t i)
{
    const char *ph = text_of(e, "ph");
    if (strlen(ph) != 1 || !strchr("XMCsfi", *ph) || !json_is_integer(json_object_get(e, "pid")) ||
        !json_is_number(json_object_get(e, "ts")) || !*text_of(e, "name"))
        return FAIL(ST_FAILED, "event %zu lacks ph, pid, ts or name", i);
    if (*ph == 'X') return take_slice(f, e, i);
    const json_int_t id = json_integer_value(json_object_get(e, "id"));
    if (*ph == 's') f->starts[f->n_starts++] = id;
    if (*ph == 'f') f->ends[f->n_ends++] = id;
    return ST_OK;
}

/* ---- all of them ---- */

static int by_place(const void *a, const void *b)
{
    const Slice *x = a, *y = b;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* A viewer drops a slice that begins within another on its track and ends after it. */
static Status check_nesting(Found *f)
{
    CLEANUP(array_free) int64_t *open = malloc((f->n_slices + 1) * sizeof *open);
    size_t n = 0;
    if (!open) return NO_MEMORY("for %zu slices", f->n_slices);
    qsort(f->slices, f->n_slices, sizeof *f->slices, by_place);
    for (size_t i = 0; i < f->n_slices; i++) {
        const Slice *s = &f->slices[i];
        if (i > 0 && (s[-1].pid != s->pid || s[-1].tid != s->tid)) n = 0;
        while (n > 0 && open[n - 1] <= s->begin) n--;
        if (n > 0 && open[n - 1] < s->end)
            return FAIL(ST_FAILED, "event %zu overlaps another on its track", s->index);
        open[n++] = s->end;
    }
    return ST_OK;
}

static int by_pair(const void *a, const void *b)
{
    const Pair *x = a, *y = b;
    if (x->correlation != y->correlation) return x->correlation < y->correlation ? -1 : 1;
    return (x->graph_node > y->graph_node) - (x->graph_node < y->graph_node);
}

static int by_correlation(const void *a, const void *b)
{
    const Pair *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* One call to one launch; of a graph, to one of each of its nodes. */
static Status check_pairs(Found *f)
{
    qsort(f->calls, f->n_calls, sizeof *f->calls, by_pair);
    qsort(f->launched, f->n_launched, sizeof *f->launched, by_pair);
    for (size_t i = 1; i < f->n_calls; i++) {
        if (by_correlation(&f->calls[i - 1], &f->calls[i]) == 0)
            return FAIL(ST_FAILED, "two calls have correlation %lld",
                        (long long)f->calls[i].correlation);
    }
    for (size_t i = 0; i < f->n_launched; i++) {
        const Pair *at = &f->launched[i];
        if (i > 0 && by_pair(at - 1, at) == 0)
            return FAIL(ST_FAILED, "two kernels have correlation %lld", (long long)at->correlation);
        if (!bsearch(at, f->calls, f->n_calls, sizeof *at, by_correlation))
            return FAIL(ST_FAILED, "no call has correlation %lld", (long long)at->correlation);
    }
    return ST_OK;
}

static int by_number(const void *a, const void *b)
{
    const json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;
    return (x > y) - (x < y);
}

static Status check_flows(Found *f)
{
    qsort(f->starts, f->n_starts, sizeof *f->starts, by_number);
    for (size_t i = 0; i < f->n_ends; i++) {
        if (!bsearch(&f->ends[i], f->starts, f->n_starts, sizeof *f->starts, by_number))
            return FAIL(ST_FAILED, "arrow %lld begins nowhere", (long long)f->ends[i]);
    }
    return ST_OK;
}

static Status check_all(Found *f, const json_t *events)
{
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) TRY(take(f, event, i));
    TRY(check_nesting(f));
    TRY(check_pairs(f));
    return check_flows(f);
}

Status validate_trace(const Text *text, const json_t *json, ValidateNote *note)
{
    const json_t *events = json_object_get(json, "traceEvents");
    const size_t n = json_array_size(events) + 1;
    if (!json_is_array(events)) return FAIL(ST_FAILED, "traceEvents is no array");
    if (!strstr(text_str(text), "\"rank\": ")) return FAIL(ST_FAILED, "it has no rank");
    CLEANUP(free_found)
    Found f = {.slices = malloc(n * sizeof *f.slices),
               .calls = malloc(n * sizeof *f.calls),
               .launched = malloc(n * sizeof *f.launched),
               .starts = malloc(n * sizeof *f.starts),
               .ends = malloc(n * sizeof *f.ends)};
    if (!f.slices || !f.calls || !f.launched || !f.starts || !f.ends)
        return NO_MEMORY("for %zu events", n);
    const Status status = check_all(&f, events);
    snprintf(note->s, sizeof note->s, "trace, %zu events, %zu of a GPU, %zu steps", n - 1,
             f.n_launched, f.n_steps);
    return status;
}
