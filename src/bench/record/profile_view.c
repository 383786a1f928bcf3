#include "bench/record/profile_view.h"

#include "base/array.h"
#include "bench/record/record_stat.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

Phase profile_view_phase(const char *name)
{
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        if (strcmp(name, plan_phase_name((Phase)phase)) == 0) return (Phase)phase;
    }
    return PHASE_COUNT;
}

/* ---- the statistic ---- */

double profile_view_middle(const ProfileView *view, const ViewStats *stats)
{
    const double by_stat[STAT_COUNT] = {
        [STAT_MEDIAN] = stats->med, [STAT_MEAN] = stats->avg, [STAT_MIN] = stats->min};
    return stats->n ? by_stat[record_stat(view->record)] : NAN;
}

double profile_view_unprofiled(const ProfileView *view, const char *phase)
{
    double ms = NAN;
    record_stat_ms(view->record, phase, &ms);
    return ms * 1e6;
}

/* ---- reading ---- */

static Status wrong(const char *what, const json_error_t *error)
{
    return FAIL(ST_USAGE, "the profile's %s cannot be read: %s", what, error->text);
}

/* null is an empty one; a figure that is null is not known. */
static Status read_stats(const json_t *value, const char *what, ViewStats *t)
{
    json_error_t error;
    json_int_t n = 0;
    json_t *others[4];
    double *const to[] = {&t->med, &t->min, &t->max, &t->std};
    *t = (ViewStats){0};
    if (!value || json_is_null(value)) return ST_OK;
    if (json_unpack_ex((json_t *)value, &error, 0, "{s:I, s:F, s:F, s:o, s:o, s:o, s:o}", "n", &n,
                       "total", &t->total, "avg", &t->avg, "med", &others[0], "min", &others[1],
                       "max", &others[2], "std", &others[3]) != 0) {
        return wrong(what, &error);
    }
    for (int i = 0; i < 4; i++) {
        if (!json_is_number(others[i]) && !json_is_null(others[i]))
            return FAIL(ST_USAGE, "the profile's %s cannot be read: no number", what);
        *to[i] = json_is_null(others[i]) ? NAN : json_number_value(others[i]);
    }
    t->n = n;
    return ST_OK;
}

static double number_or_nan(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int64_t count(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static const char *text_or_null(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static Status read_phase(ProfileView *view, json_t *item)
{
    json_error_t error;
    const char *name = NULL;
    json_t *wall = NULL;
    if (json_unpack_ex(item, &error, 0, "{s:s, s:o}", "phase", &name, "wall", &wall) != 0)
        return wrong("phases", &error);
    const Phase phase = profile_view_phase(name);
    if (phase == PHASE_COUNT) return FAIL(ST_USAGE, "the profile has a phase '%s'", name);
    ViewPhase *at = &view->phases[phase];
    const json_t *gpu = json_object_get(item, "gpu");
    *at = (ViewPhase){.there = true,
                      .unprofiled = profile_view_unprofiled(view, name),
                      .nodes = number_or_nan(item, "nodes"),
                      .busy = number_or_nan(gpu, "busy"),
                      .work = number_or_nan(gpu, "work"),
                      .kernels = count(gpu, "kernels")};
    TRY(read_stats(json_object_get(gpu, "span"), "phases", &at->span));
    return read_stats(wall, "phases", &at->wall);
}

static Status read_op(ProfileView *view, json_t *item, void *to)
{
    ViewOp *op = to;
    json_error_t error;
    const char *phase = NULL, *category = NULL;
    if (json_unpack_ex(item, &error, 0, "{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:F, s:F}",
                       "phase", &phase, "scope", &op->scope, "op", &op->op, "impl", &op->impl,
                       "category", &category, "source", &op->source, "line", &op->line, "shape",
                       &op->shape, "nodes", &op->nodes, "flops", &op->flops, "bytes",
                       &op->bytes) != 0) {
        return wrong("ops", &error);
    }
    op->phase = profile_view_phase(phase);
    if (op->phase == PHASE_COUNT) return FAIL(ST_USAGE, "an op of the profile is in no phase");
    op->category = plan_category_find(category);
    op->part = text_or_null(item, "part");
    op->operands = text_or_null(item, "operands");
    op->by = text_or_null(item, "by");
    if (!op->by) op->by = op->impl; /* a file of an older version */
    op->allocated = number_or_nan(item, "allocated");
    TRY(read_stats(json_object_get(item, "host"), "ops", &op->host));
    TRY(read_stats(json_object_get(item, "device"), "ops", &op->device));
    op->time = view->gpu ? op->device : op->host;
    view->phases[op->phase].attributed += op->time.total;
    return ST_OK;
}

static Status read_name(ProfileView *view, json_t *item, void *to)
{
    ViewName *name = to;
    json_error_t error;
    if (json_unpack_ex(item, &error, 0, "{s:s, s:s, s:s}", "name", &name->name, "short",
                       &name->brief, "kind", &name->kind) != 0) {
        return wrong("kernels", &error);
    }
    const json_t *row = json_object_get(item, "row");
    name->in = text_or_null(item, "phase");
    name->ops = number_or_nan(item, "ops");
    name->row = json_is_integer(row) ? (int)json_integer_value(row) : -1;
    if (name->row >= view->n_ops) return FAIL(ST_USAGE, "a kernel names an op that is not there");
    TRY(read_stats(json_object_get(item, "time"), "kernels", &name->time));
    return read_stats(json_object_get(item, "bytes"), "kernels", &name->bytes);
}

static Status read_range(ProfileView *view, json_t *item, void *to)
{
    ViewRange *range = to;
    (void)view;
    json_error_t error;
    const char *phase = NULL;
    json_int_t kernels = 0;
    if (json_unpack_ex(item, &error, 0, "{s:s, s:s, s:i, s:I}", "phase", &phase, "name",
                       &range->name, "level", &range->level, "kernels", &kernels) != 0) {
        return wrong("ranges", &error);
    }
    range->phase = profile_view_phase(phase);
    if (range->phase == PHASE_COUNT) return FAIL(ST_USAGE, "a range of the profile is in no phase");
    range->kernels = kernels;
    range->device = number_or_nan(item, "device");
    TRY(read_stats(json_object_get(item, "host"), "ranges", &range->host));
    TRY(read_stats(json_object_get(item, "span"), "ranges", &range->span));
    return read_stats(json_object_get(item, "wall"), "ranges", &range->wall);
}

static Status read_thread(ProfileView *view, json_t *item, void *to)
{
    const char *name = text_or_null(item, "name");
    (void)view;
    *(ViewThread *)to =
        (ViewThread){name ? name : "", number_or_nan(item, "ran"), number_or_nan(item, "waited")};
    return ST_OK;
}

static Status read_collective(ProfileView *view, json_t *item, void *to)
{
    ViewCollective *c = to;
    json_error_t error;
    json_int_t bytes = 0;
    const char *queue = NULL;
    (void)view;
    if (json_unpack_ex(item, &error, 0, "{s:s, s:s, s:s, s:I, s:F, s:F, s:F}", "op", &c->op, "name",
                       &c->name, "queue", &queue, "bytes", &bytes, "wire", &c->wire, "hidden",
                       &c->hidden, "waited", &c->waited) != 0) {
        return wrong("collectives", &error);
    }
    c->bytes = bytes;
    c->beside = strcmp(queue, "communication") == 0;
    c->waited_by = text_or_null(item, "waited_by");
    return read_stats(json_object_get(item, "time"), "collectives", &c->time);
}

static Status read_rank(ProfileView *view, json_t *item, void *to)
{
    (void)view;
    *(ViewRank *)to = (ViewRank){number_or_nan(item, "step"), number_or_nan(item, "communication"),
                                 number_or_nan(item, "hidden"), number_or_nan(item, "waited")};
    return ST_OK;
}

static Status read_gaps(ViewGaps *gaps, const json_t *item)
{
    gaps->p99 = number_or_nan(item, "p99");
    gaps->after = text_or_null(item, "longest_after");
    gaps->before = text_or_null(item, "longest_before");
    return read_stats(item, "gaps", &gaps->time);
}

static Status read_gpu(ViewGpu *gpu, const json_t *item)
{
    *gpu = (ViewGpu){.compute = number_or_nan(item, "compute"),
                     .copies = number_or_nan(item, "copies"),
                     .overhead = number_or_nan(item, "overhead"),
                     .unattributed = count(item, "unattributed"),
                     .dropped = count(item, "dropped"),
                     .unattributed_time = number_or_nan(item, "unattributed_time")};
    TRY(read_gaps(&gpu->gaps, json_object_get(item, "gaps")));
    return read_stats(json_object_get(item, "launch_latency"), "launch latency", &gpu->latency);
}

static Status read_os(ViewOs *os, const json_t *item)
{
    *os = (ViewOs){.voluntary = count(item, "voluntary_switches"),
                   .involuntary = count(item, "involuntary_switches"),
                   .minor = count(item, "minor_faults"),
                   .major = count(item, "major_faults"),
                   .user = number_or_nan(item, "user"),
                   .system = number_or_nan(item, "system"),
                   .ran = number_or_nan(item, "ran"),
                   .waited = number_or_nan(item, "waited")};
    TRY(read_stats(json_object_get(item, "blocked"), "time in the operating system", &os->blocked));
    return read_stats(json_object_get(item, "waiting"), "time in the operating system",
                      &os->waiting);
}

/* ---- lists ---- */

/* Each list of the file and where it goes. Ops come first: the others refer to them. */
static const struct {
    const char *name;
    size_t list, n, size;
    Status (*read)(ProfileView *view, json_t *item, void *to);
} lists[] = {
#define LIST(name, field, type, read)                                                            \
    {                                                                                            \
        name, offsetof(ProfileView, field), offsetof(ProfileView, n_##field), sizeof(type), read \
    }
    LIST("ops", ops, ViewOp, read_op),
    LIST("ranges", ranges, ViewRange, read_range),
    LIST("threads", threads, ViewThread, read_thread),
    LIST("kernels", kernels, ViewName, read_name),
    LIST("kernel_names", names, ViewName, read_name),
    LIST("kernel_briefs", briefs, ViewName, read_name),
    LIST("phase_kernels", phase_kernels, ViewName, read_name),
    LIST("phase_ops", phase_ops, ViewName, read_name),
    LIST("calls", calls, ViewName, read_name),
    LIST("op_calls", op_calls, ViewName, read_name),
    LIST("kernel_grids", grids, ViewName, read_name),
    LIST("nvtx_ranges", nvtx, ViewName, read_name),
    LIST("nvtx_projected", projected, ViewName, read_name),
    LIST("os_calls", os_calls, ViewName, read_name),
    LIST("collectives", collectives, ViewCollective, read_collective),
    LIST("ranks", ranks, ViewRank, read_rank),
#undef LIST
};
enum { LISTS = sizeof lists / sizeof *lists };

static Status read_list(ProfileView *view, const json_t *profile, int list)
{
    size_t i;
    json_t *item;
    const json_t *items = json_object_get(profile, lists[list].name);
    int *n = (int *)(void *)((char *)view + lists[list].n);
    char *elements = calloc(json_array_size(items) + 1, lists[list].size);
    if (!elements) return NO_MEMORY("for a profile");
    memcpy((char *)view + lists[list].list, &elements, sizeof elements); /* whatever its type */
    json_array_foreach(items, i, item)
    {
        TRY(lists[list].read(view, item, elements + i * lists[list].size));
        ++*n;
    }
    return ST_OK;
}

static Status read_lists(ProfileView *view, const json_t *profile)
{
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(profile, "phases"), i, item) TRY(read_phase(view, item));
    for (int list = 0; list < LISTS; list++) TRY(read_list(view, profile, list));
    return ST_OK;
}

static Status read_profile(ProfileView *view, json_t *profile)
{
    json_error_t error;
    json_int_t steps = 0, traced = 0, left_out = 0;
    if (json_unpack_ex(profile, &error, 0, "{s:I, s:I, s:I, s:F}", "steps", &steps, "traced_steps",
                       &traced, "events_left_out", &left_out, "loop", &view->loop) != 0) {
        return wrong("head", &error);
    }
    if (steps <= 0) return FAIL(ST_USAGE, "the profile has no steps");
    view->steps = steps;
    view->traced_steps = traced;
    view->events_left_out = left_out;
    view->gpu = json_is_object(json_object_get(profile, "gpu"));
    view->threads_wall = number_or_nan(profile, "threads_wall");
    view->limit_flops = number_or_nan(profile, "limit_flops");
    view->limit_bandwidth = number_or_nan(profile, "limit_bandwidth");
    TRY(read_stats(json_object_get(profile, "step"), "step", &view->step));
    TRY(read_lists(view, profile));
    TRY(read_gaps(&view->host_gaps, json_object_get(profile, "host_gaps")));
    TRY(read_gpu(&view->device, json_object_get(profile, "gpu")));
    return read_os(&view->os, json_object_get(profile, "os"));
}

Status profile_view_make(ProfileView *view, const Record *record)
{
    json_t *profile = json_object_get(record, "profile");
    *view = (ProfileView){.record = record};
    if (!json_is_object(profile)) return FAIL(ST_USAGE, "this result has no profile");
    const Status status = read_profile(view, profile);
    if (status != ST_OK) profile_view_free(view);
    return status;
}

void profile_view_free(ProfileView *view)
{
    for (int i = 0; i < LISTS; i++) array_free((char *)view + lists[i].list);
    *view = (ProfileView){0};
}

double profile_view_calls(const ProfileView *view, int row)
{
    int64_t calls = 0;
    for (int i = 0; i < view->n_kernels; i++) {
        if (view->kernels[i].row == row) calls += view->kernels[i].time.n;
    }
    return (double)calls / (double)view->steps;
}
