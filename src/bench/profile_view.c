#include "bench/profile_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-3; /* of the parent, for sums of its children */

Phase profile_view_phase(const char *name)
{
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        if (strcmp(name, plan_phase_name((Phase)phase)) == 0) return (Phase)phase;
    }
    return PHASE_COUNT;
}

/* ---- reading ---- */

static Status wrong(const char *what, const json_error_t *error)
{
    return FAIL(ST_USAGE, "the profile's %s cannot be read: %s", what, error->text);
}

/* null is an empty one. */
static Status read_tally(const json_t *value, const char *what, ViewTally *t)
{
    json_error_t error;
    json_int_t n = 0;
    *t = (ViewTally){0};
    if (!value || json_is_null(value)) return ST_OK;
    if (json_unpack_ex((json_t *)value, &error, 0, "{s:I, s:F, s:F, s:F, s:F, s:F, s:F}", "n", &n,
                       "total", &t->total, "avg", &t->avg, "med", &t->med, "min", &t->min, "max",
                       &t->max, "std", &t->std) != 0) {
        return wrong(what, &error);
    }
    t->n = n;
    return ST_OK;
}

static double number_or_nan(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_or_null(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static Status read_phase(ProfileView *view, json_t *item, double unprofiled_ms)
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
                      .unprofiled = unprofiled_ms * 1e6,
                      .nodes = number_or_nan(item, "nodes"),
                      .busy = number_or_nan(gpu, "busy"),
                      .work = number_or_nan(gpu, "work"),
                      .kernels = json_integer_value(json_object_get(gpu, "kernels"))};
    TRY(read_tally(json_object_get(gpu, "span"), "phases", &at->span));
    return read_tally(wall, "phases", &at->wall);
}

static Status read_op(ProfileView *view, json_t *item)
{
    ViewOp *op = &view->ops[view->n_ops];
    json_error_t error;
    const char *phase = NULL;
    if (json_unpack_ex(item, &error, 0, "{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:F, s:F}",
                       "phase", &phase, "scope", &op->scope, "op", &op->op, "impl", &op->impl,
                       "category", &op->category, "source", &op->source, "line", &op->line, "shape",
                       &op->shape, "nodes", &op->nodes, "flops", &op->flops, "bytes",
                       &op->bytes) != 0) {
        return wrong("ops", &error);
    }
    op->phase = profile_view_phase(phase);
    if (op->phase == PHASE_COUNT) return FAIL(ST_USAGE, "an op of the profile is in no phase");
    op->part = text_or_null(item, "part");
    op->allocated = number_or_nan(item, "allocated");
    TRY(read_tally(json_object_get(item, "host"), "ops", &op->host));
    TRY(read_tally(json_object_get(item, "device"), "ops", &op->device));
    op->time = view->gpu ? op->device : op->host;
    view->phases[op->phase].attributed += op->time.total;
    view->n_ops++;
    return ST_OK;
}

static Status read_name(const ProfileView *view, json_t *item, ViewName *name)
{
    json_error_t error;
    if (json_unpack_ex(item, &error, 0, "{s:s, s:s, s:s}", "name", &name->name, "short",
                       &name->brief, "kind", &name->kind) != 0) {
        return wrong("kernels", &error);
    }
    const json_t *row = json_object_get(item, "row");
    name->row = json_is_integer(row) ? (int)json_integer_value(row) : -1;
    if (name->row >= view->n_ops) return FAIL(ST_USAGE, "a kernel names an op that is not there");
    TRY(read_tally(json_object_get(item, "time"), "kernels", &name->time));
    return read_tally(json_object_get(item, "bytes"), "kernels", &name->bytes);
}

static Status read_range(ProfileView *view, json_t *item)
{
    ViewRange *range = &view->ranges[view->n_ranges];
    json_error_t error;
    const char *phase = NULL;
    json_int_t kernels = 0;
    if (json_unpack_ex(item, &error, 0, "{s:s, s:s, s:i, s:I}", "phase", &phase, "name",
                       &range->name, "level", &range->level, "kernels", &kernels) != 0) {
        return wrong("ranges", &error);
    }
    range->phase = profile_view_phase(phase);
    range->kernels = kernels;
    range->device = number_or_nan(item, "device");
    TRY(read_tally(json_object_get(item, "host"), "ranges", &range->host));
    TRY(read_tally(json_object_get(item, "span"), "ranges", &range->span));
    TRY(read_tally(json_object_get(item, "wall"), "ranges", &range->wall));
    view->n_ranges++;
    return ST_OK;
}

static Status read_gpu(ViewGpu *gpu, const json_t *item)
{
    const json_t *gaps = json_object_get(item, "gaps");
    *gpu = (ViewGpu){.compute = number_or_nan(item, "compute"),
                     .copies = number_or_nan(item, "copies"),
                     .overhead = number_or_nan(item, "overhead"),
                     .p99 = number_or_nan(gaps, "p99"),
                     .after = text_or_null(gaps, "longest_after"),
                     .before = text_or_null(gaps, "longest_before"),
                     .unattributed = json_integer_value(json_object_get(item, "unattributed")),
                     .dropped = json_integer_value(json_object_get(item, "dropped")),
                     .unattributed_time = number_or_nan(item, "unattributed_time")};
    TRY(read_tally(gaps, "gaps", &gpu->gaps));
    return read_tally(json_object_get(item, "launch_latency"), "launch latency", &gpu->latency);
}

static Status read_os(ViewOs *os, const json_t *item)
{
    *os = (ViewOs){.voluntary = json_integer_value(json_object_get(item, "voluntary_switches")),
                   .involuntary = json_integer_value(json_object_get(item, "involuntary_switches")),
                   .minor = json_integer_value(json_object_get(item, "minor_faults")),
                   .major = json_integer_value(json_object_get(item, "major_faults")),
                   .user = number_or_nan(item, "user"),
                   .system = number_or_nan(item, "system"),
                   .ran = number_or_nan(item, "ran"),
                   .waited = number_or_nan(item, "waited")};
    TRY(read_tally(json_object_get(item, "blocked"), "time in the operating system", &os->blocked));
    return read_tally(json_object_get(item, "waiting"), "time in the operating system",
                      &os->waiting);
}

/* ---- lists ---- */

/* Room for all of them; jansson says 0 of what is no array. */
static void *room(const json_t *list, size_t size)
{
    return calloc(json_array_size(list) + 1, size);
}

static Status make_room(ProfileView *view, const json_t *profile)
{
    view->ops = room(json_object_get(profile, "ops"), sizeof *view->ops);
    view->kernels = room(json_object_get(profile, "kernels"), sizeof *view->kernels);
    view->names = room(json_object_get(profile, "kernel_names"), sizeof *view->names);
    view->briefs = room(json_object_get(profile, "kernel_briefs"), sizeof *view->briefs);
    view->calls = room(json_object_get(profile, "calls"), sizeof *view->calls);
    view->op_calls = room(json_object_get(profile, "op_calls"), sizeof *view->op_calls);
    view->ranges = room(json_object_get(profile, "ranges"), sizeof *view->ranges);
    view->threads = room(json_object_get(profile, "threads"), sizeof *view->threads);
    const bool all = view->ops && view->kernels && view->names && view->briefs && view->calls &&
                     view->op_calls && view->ranges && view->threads;
    return all ? ST_OK : FAIL(ST_NO_MEMORY, "no memory for a profile");
}

static Status read_names(ProfileView *view, const json_t *list, ViewName *names, int *n)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) TRY(read_name(view, item, &names[(*n)++]));
    return ST_OK;
}

static Status read_phases(ProfileView *view, const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        char path[48] = "";
        double unprofiled = NAN;
        const char *name = text_or_null(item, "phase");
        snprintf(path, sizeof path, "%.30s.mean_ms", name ? name : "");
        record_number(view->record, path, &unprofiled);
        TRY(read_phase(view, item, unprofiled));
    }
    return ST_OK;
}

static Status read_lists(ProfileView *view, const json_t *profile)
{
    size_t i;
    json_t *item;
    TRY(read_phases(view, json_object_get(profile, "phases")));
    json_array_foreach(json_object_get(profile, "ops"), i, item) TRY(read_op(view, item));
    json_array_foreach(json_object_get(profile, "ranges"), i, item) TRY(read_range(view, item));
    json_array_foreach(json_object_get(profile, "threads"), i, item)
    {
        const char *name = text_or_null(item, "name");
        view->threads[view->n_threads++] = (ViewThread){
            name ? name : "", number_or_nan(item, "ran"), number_or_nan(item, "waited")};
    }
    TRY(read_names(view, json_object_get(profile, "kernels"), view->kernels, &view->n_kernels));
    TRY(read_names(view, json_object_get(profile, "kernel_names"), view->names, &view->n_names));
    TRY(read_names(view, json_object_get(profile, "kernel_briefs"), view->briefs, &view->n_briefs));
    TRY(read_names(view, json_object_get(profile, "calls"), view->calls, &view->n_calls));
    return read_names(view, json_object_get(profile, "op_calls"), view->op_calls,
                      &view->n_op_calls);
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
    TRY(make_room(view, profile));
    TRY(read_tally(json_object_get(profile, "step"), "step", &view->step));
    TRY(read_lists(view, profile));
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
    free(view->ops);
    free(view->kernels);
    free(view->names);
    free(view->briefs);
    free(view->calls);
    free(view->op_calls);
    free(view->ranges);
    free(view->threads);
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

/* ---- checks ---- */

static Status check_sum(double sum, double parent, const char *what, const char *where)
{
    if (fabs(sum - parent) <= tolerance * fabs(parent)) return ST_OK;
    return FAIL(ST_FAILED, "%s of %s add up to %.0f ns, not %.0f", what, where, sum, parent);
}

/* The median is one of them, or between two; the rest may be rounded. */
static Status check_tally(const ViewTally *t, const char *what)
{
    const double slack = tolerance * t->max;
    const bool ordered = t->min <= t->med && t->med <= t->max && t->min <= t->avg + slack &&
                         t->avg <= t->max + slack;
    if (t->n == 0 || (ordered && fabs(t->avg * (double)t->n - t->total) <= tolerance * t->total))
        return ST_OK;
    return FAIL(
        ST_FAILED,
        "%s: %lld times from %g to %g ns do not have the median %g, the mean %g and the sum %g",
        what, (long long)t->n, t->min, t->max, t->med, t->avg, t->total);
}

static Status check_tallies(const ProfileView *view)
{
    TRY(check_tally(&view->step, "the steps"));
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        TRY(check_tally(&view->phases[phase].wall, plan_phase_name((Phase)phase)));
    }
    for (int i = 0; i < view->n_ops; i++) TRY(check_tally(&view->ops[i].time, view->ops[i].op));
    for (int i = 0; i < view->n_ranges; i++) {
        TRY(check_tally(&view->ranges[i].host, view->ranges[i].name));
    }
    for (int i = 0; i < view->n_kernels; i++) {
        TRY(check_tally(&view->kernels[i].time, view->kernels[i].name));
    }
    return ST_OK;
}

/* On a GPU the rows of ops hold what its kernels took, on a CPU what its nodes took. */
static Status check_phase(const ProfileView *view, Phase phase)
{
    const ViewPhase *at = &view->phases[phase];
    const char *name = plan_phase_name(phase);
    double ranges = 0, in_ranges = 0;
    if (!at->there) return ST_OK;
    TRY(check_sum(at->attributed, view->gpu ? at->work : at->nodes, "the ops", name));
    for (int i = 0; i < view->n_ranges; i++) {
        const ViewRange *range = &view->ranges[i];
        if (range->phase != phase || range->level != 0) continue;
        ranges += view->gpu ? range->device : range->host.total;
    }
    in_ranges = view->gpu ? at->work : at->nodes;
    if (view->gpu) return check_sum(ranges, in_ranges, "the ranges", name);
    if (ranges < in_ranges * (1 - tolerance) || ranges > at->wall.total * (1 + tolerance))
        return FAIL(ST_FAILED, "the ranges of %s are not between its nodes and its wall time",
                    name);
    return ST_OK;
}

Status profile_view_check(const ProfileView *view)
{
    double phases = 0, kernels = 0, rows = 0;
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        TRY(check_phase(view, (Phase)phase));
        phases += view->phases[phase].there ? view->phases[phase].wall.total : 0;
        rows += view->phases[phase].attributed;
    }
    if (phases > view->step.total * (1 + tolerance))
        return FAIL(ST_FAILED, "the phases take longer than the steps");
    for (int i = 0; i < view->n_kernels; i++) {
        if (view->kernels[i].row >= 0) kernels += view->kernels[i].time.total;
    }
    TRY(check_sum(kernels, rows, "the kernels", "the step"));
    if (view->gpu && view->device.dropped > 0)
        return FAIL(ST_FAILED, "%lld records were dropped", (long long)view->device.dropped);
    return check_tallies(view);
}
