#include "bench/record/kernel_rank.h"

#include <math.h>
#include <string.h>

static bool counts(const ProfileView *view, const OpFilter *filter, const ViewName *kernel)
{
    const bool is_kernel = strcmp(kernel->kind, "kernel") == 0; /* no copy, no memset */
    return is_kernel && kernel->row >= 0 && kernel->time.n > 0 &&
           op_filter_takes(filter, &view->ops[kernel->row]);
}

static bool is_same(const ProfileView *view, const OpFilter *filter, int i, const char *brief)
{
    return counts(view, filter, &view->kernels[i]) && strcmp(view->kernels[i].brief, brief) == 0;
}

static double time_under(const ProfileView *view, const OpFilter *filter, const char *brief)
{
    double sum = 0;
    for (int i = 0; i < view->n_kernels; i++) {
        if (is_same(view, filter, i, brief)) sum += view->kernels[i].time.total;
    }
    return sum;
}

/* The name with most time of those with less than `below`, which becomes its time. */
static const char *next_kernel(const ProfileView *view, const OpFilter *filter, double *below)
{
    const char *best = NULL;
    double most = 0;
    for (int i = 0; i < view->n_kernels; i++) {
        if (!counts(view, filter, &view->kernels[i])) continue;
        const double time = time_under(view, filter, view->kernels[i].brief);
        if (time >= *below || time <= most) continue;
        most = time;
        best = view->kernels[i].brief;
    }
    *below = most;
    return best;
}

const char *kernel_rank_name(const ProfileView *view, const OpFilter *filter, int rank)
{
    const char *name = NULL;
    double below = INFINITY;
    for (int i = 0; i < rank && (i == 0 || name); i++) name = next_kernel(view, filter, &below);
    return name;
}

/* Half of the calls are of ops whose median is at most this. */
static double median_under(const ProfileView *view, const OpFilter *filter, const char *brief,
                           double calls)
{
    double median = INFINITY;
    for (int i = 0; i < view->n_kernels; i++) {
        const double x = view->kernels[i].time.med;
        double up_to = 0;
        if (!is_same(view, filter, i, brief) || x >= median) continue;
        for (int j = 0; j < view->n_kernels; j++) {
            const ViewStats *t = &view->kernels[j].time;
            if (is_same(view, filter, j, brief) && t->med <= x) up_to += (double)t->n;
        }
        if (2 * up_to >= calls) median = x;
    }
    return median;
}

/* All calls under one name; what they deviate from their common mean is what they deviate from the means of their
 * ops and what those deviate from it. */
ViewStats kernel_rank_stats(const ProfileView *view, const OpFilter *filter, const char *brief)
{
    ViewStats sum = {.min = INFINITY};
    double squares = 0;
    for (int i = 0; i < view->n_kernels; i++) {
        const ViewStats *t = &view->kernels[i].time;
        if (!is_same(view, filter, i, brief)) continue;
        sum.n += t->n;
        sum.total += t->total;
        sum.min = fmin(sum.min, t->min);
        sum.max = fmax(sum.max, t->max);
        squares += (double)(t->n - 1) * t->std * t->std + (double)t->n * t->avg * t->avg;
    }
    const double n = (double)sum.n;
    sum.avg = sum.total / n;
    sum.std = sum.n > 1 ? sqrt(fmax(0, squares - n * sum.avg * sum.avg) / (n - 1)) : 0;
    sum.med = median_under(view, filter, brief, n);
    return sum;
}
