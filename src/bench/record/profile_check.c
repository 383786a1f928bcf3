#include "bench/record/profile_check.h"

#include <math.h>

static const double tolerance = 1e-3; /* of the parent, for sums of its children */

static Status check_sum(double sum, double parent, const char *what, const char *where)
{
    if (fabs(sum - parent) <= tolerance * fabs(parent)) return ST_OK;
    return FAIL(ST_FAILED, "%s of %s add up to %.0f ns, not %.0f", what, where, sum, parent);
}

/* The median is one of them, or between two; the rest may be rounded. */
static Status check_stats(const ViewStats *t, const char *what)
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

static Status check_all_stats(const ProfileView *view)
{
    TRY(check_stats(&view->step, "the steps"));
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        TRY(check_stats(&view->phases[phase].wall, plan_phase_name((Phase)phase)));
    }
    for (int i = 0; i < view->n_ops; i++) TRY(check_stats(&view->ops[i].time, view->ops[i].op));
    for (int i = 0; i < view->n_ranges; i++) {
        TRY(check_stats(&view->ranges[i].host, view->ranges[i].name));
    }
    for (int i = 0; i < view->n_kernels; i++) {
        TRY(check_stats(&view->kernels[i].time, view->kernels[i].name));
    }
    for (int i = 0; i < view->n_phase_kernels; i++) {
        TRY(check_stats(&view->phase_kernels[i].time, view->phase_kernels[i].name));
    }
    return check_stats(&view->host_gaps.time, "the gaps on the host");
}

/* Kernels by name, or ops, of one phase; a file of an older version has none. */
static Status check_names(const ViewName *names, int n, Phase phase, double whole, const char *what)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (names[i].in && profile_view_phase(names[i].in) == phase) sum += names[i].time.total;
    }
    return n ? check_sum(sum, whole, what, plan_phase_name(phase)) : ST_OK;
}

/* On a GPU the rows of ops hold what its kernels took, on a CPU what its nodes took. */
static Status check_phase(const ProfileView *view, Phase phase)
{
    const ViewPhase *at = &view->phases[phase];
    const char *name = plan_phase_name(phase);
    double ranges = 0, in_ranges = 0;
    if (!at->there) return ST_OK;
    TRY(check_sum(at->attributed, view->gpu ? at->work : at->nodes, "the ops", name));
    TRY(check_names(view->phase_kernels, view->n_phase_kernels, phase, at->attributed,
                    "the kernels by name"));
    TRY(check_names(view->phase_ops, view->n_phase_ops, phase, at->attributed, "the ops by name"));
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

/* Nothing is hidden, or waited for, longer than it takes. */
static Status check_collectives(const ProfileView *view)
{
    double time = 0;
    for (int i = 0; i < view->n_collectives; i++) {
        const ViewCollective *c = &view->collectives[i];
        TRY(check_stats(&c->time, c->name));
        time += c->time.total;
        if (fmax(c->hidden, c->waited) > c->time.total * (1 + tolerance))
            return FAIL(ST_FAILED, "%s of %s: more is hidden, or waited for, than it takes", c->op,
                        c->name);
    }
    const double told = view->n_ranks ? view->ranks[0].communication * (double)view->steps : time;
    return check_sum(time, told, "the collectives", "rank 0");
}

Status profile_check(const ProfileView *view)
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
    TRY(check_collectives(view));
    return check_all_stats(view);
}
