#include "base/array.h"
#include "bench/record/record.h"
#include "report/validate/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By its place. */
typedef struct Slice {
    json_int_t pid, tid;
    int64_t begin, end; /* ns */
    bool is_step;
    size_t index;
} Slice;

/* What must have a counterpart: a launch its call, the end of an arrow its start. */
typedef enum MarkKind { CALL, LAUNCHED, ARROW_START, ARROW_END } MarkKind;

typedef struct Mark {
    MarkKind kind;
    json_int_t id;         /* the correlation of a call and its launches; of an arrow its own */
    json_int_t graph_node; /* of a launch; 0: launched by itself */
} Mark;

typedef struct Found {
    Slice *slices;
    Mark *marks;
    size_t n_slices, n_marks, n_launched;
} Found;

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* us: some thirty years, of which ns are whole numbers */
static const double longest = 1e15;

static json_int_t int_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
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

static void add_mark(Found *f, MarkKind kind, json_int_t id, json_int_t graph_node)
{
    f->marks[f->n_marks++] = (Mark){kind, id, graph_node};
    f->n_launched += kind == LAUNCHED;
}

static Status take_slice(Found *f, const json_t *e, double ts, size_t i)
{
    const char *category = text_of(e, "cat");
    const json_t *args = json_object_get(e, "args"), *stream = json_object_get(args, "stream");
    const json_int_t correlation = int_of(args, "correlation");
    double duration;
    if (!record_number(e, "dur", &duration) || !*category || !json_is_object(args))
        return FAIL(ST_FAILED, "event %zu lacks dur, cat or args", i);
    if (duration < 0) return FAIL(ST_FAILED, "event %zu ends before it begins", i);
    if (duration > longest || fabs(ts) > longest)
        return FAIL(ST_FAILED, "event %zu: its ts or dur is beyond %g us", i, longest);
    if (on_gpu(category) != (stream != NULL) || (stream && json_integer_value(stream) <= 0))
        return FAIL(ST_FAILED, "event %zu: a stream is for what runs on a GPU", i);
    if (on_gpu(category)) add_mark(f, LAUNCHED, correlation, int_of(args, "graph node id"));
    if (is_call(category) && correlation) add_mark(f, CALL, correlation, 0);
    const bool is_step = strncmp(text_of(e, "name"), "ProfilerStep#", 13) == 0;
    const int64_t begin = llround(ts * 1000), end = begin + llround(duration * 1000);
    f->slices[f->n_slices++] = (Slice){int_of(e, "pid"), int_of(e, "tid"), begin, end, is_step, i};
    return ST_OK;
}

static Status take(Found *f, const json_t *e, size_t i)
{
    const char *ph = text_of(e, "ph");
    double ts;
    if (strlen(ph) != 1 || !strchr("XMCsfi", *ph) || !json_is_integer(json_object_get(e, "pid")) ||
        !record_number(e, "ts", &ts) || !*text_of(e, "name"))
        return FAIL(ST_FAILED, "event %zu lacks ph, pid, ts or name", i);
    if (*ph == 'X') return take_slice(f, e, ts, i);
    if (*ph == 's' || *ph == 'f')
        add_mark(f, *ph == 's' ? ARROW_START : ARROW_END, int_of(e, "id"), 0);
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

/* Steps with something in them: a marker behind the last one ends it for programs that read traces. */
static size_t count_steps(const Found *f)
{
    size_t n = 0;
    for (size_t i = 0; i + 1 < f->n_slices; i++) {
        const Slice *s = &f->slices[i], *next = s + 1;
        n += s->is_step && next->pid == s->pid && next->tid == s->tid && next->begin < s->end;
    }
    return n;
}

static int by_mark(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->graph_node > y->graph_node) - (x->graph_node < y->graph_node);
}

static bool has(const Found *f, MarkKind kind, json_int_t id)
{
    const Mark mark = {.kind = kind, .id = id};
    return bsearch(&mark, f->marks, f->n_marks, sizeof mark, by_mark) != NULL;
}

/* One call to one launch, of a graph to one of each of its nodes; one start to each end of an arrow. */
static Status check_marks(Found *f)
{
    qsort(f->marks, f->n_marks, sizeof *f->marks, by_mark);
    for (size_t i = 0; i < f->n_marks; i++) {
        const Mark *m = &f->marks[i];
        const long long id = m->id;
        if (m->kind <= LAUNCHED && i > 0 && by_mark(m - 1, m) == 0)
            return FAIL(ST_FAILED, "two %s have correlation %lld",
                        m->kind == CALL ? "calls" : "kernels", id);
        if (m->kind == LAUNCHED && !has(f, CALL, m->id))
            return FAIL(ST_FAILED, "no call has correlation %lld", id);
        if (m->kind == ARROW_END && !has(f, ARROW_START, m->id))
            return FAIL(ST_FAILED, "arrow %lld begins nowhere", id);
    }
    return ST_OK;
}

Status validate_trace(const Text *text, const json_t *json, ValidateNote *note)
{
    const json_t *events = json_object_get(json, "traceEvents");
    const size_t n = json_array_size(events);
    if (!json_is_array(events)) return FAIL(ST_FAILED, "traceEvents is no array");
    if (!strstr(text_str(text), "\"rank\": ") && !strstr(text_str(text), "\"ranks\": ["))
        return FAIL(ST_FAILED, "it has no rank");
    CLEANUP(array_free) Slice *slices = malloc((n + 1) * sizeof *slices);
    CLEANUP(array_free)
    Mark *marks = malloc((n + 1) * sizeof *marks); /* an event has one at most */
    Found f = {.slices = slices, .marks = marks};
    if (!slices || !marks) return NO_MEMORY("for %zu events", n);
    for (size_t i = 0; i < n; i++) TRY(take(&f, json_array_get(events, i), i));
    TRY(check_nesting(&f));
    TRY(check_marks(&f));
    snprintf(note->s, sizeof note->s, "trace, %zu events, %zu of a GPU, %zu steps", n, f.n_launched,
             count_steps(&f));
    return ST_OK;
}
