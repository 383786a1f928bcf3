#include "bench/record/op_filter.h"

#include <math.h>
#include <string.h>

unsigned op_filter_categories(const char *word)
{
    const unsigned named = 1U << CATEGORY_matmul | 1U << CATEGORY_elementwise |
                           1U << CATEGORY_optimizer | 1U << CATEGORY_softmax |
                           1U << CATEGORY_reduction;
    const unsigned no_op = 1U << (CATEGORY_COUNT + 1);
    if (strcmp(word, plan_category_name(CATEGORY_COUNT)) == 0) return ~named;
    const OpCategory category = plan_category_find(word);
    return category == CATEGORY_COUNT ? no_op : 1U << category;
}

unsigned op_filter_part(const char *name)
{
    int part = 0;
    if (!name) return OP_FILTER_PART(COUNT);
    while (part < PART_COUNT && strcmp(name, part_name((Part)part)) != 0) part++;
    return 1U << (part < PART_COUNT ? part
                                    : PART_COUNT + 1); /* one that this version does not know */
}

static bool takes(const OpFilter *filter, const ViewOp *op)
{
    return (filter->phase == PHASE_COUNT || op->phase == filter->phase) &&
           filter->categories & 1U << op->category && filter->parts & op_filter_part(op->part);
}

double op_filter_time(const ProfileView *view, const OpFilter *filter)
{
    double sum = 0;
    bool any = false;
    for (int i = 0; i < view->n_ops; i++) {
        if (!takes(filter, &view->ops[i])) continue;
        sum += view->ops[i].time.total;
        any = true;
    }
    return any ? sum : NAN;
}

double op_filter_calls(const ProfileView *view, const OpFilter *filter)
{
    double sum = 0;
    for (int i = 0; i < view->n_ops; i++) {
        if (!takes(filter, &view->ops[i])) continue;
        sum += view->gpu ? profile_view_calls(view, i) : view->ops[i].nodes;
    }
    return sum * (double)view->steps;
}

/* ---- kernels by their time ---- */

/* Is it a kernel, no copy or memset, of these rows, and has it this short name? NULL: whatever its name. */
static bool counts(const ProfileView *view, const OpFilter *filter, int i, const char *brief)
{
    const ViewName *kernel = &view->kernels[i];
    return strcmp(kernel->kind, "kernel") == 0 && kernel->row >= 0 && kernel->time.n > 0 &&
           takes(filter, &view->ops[kernel->row]) && (!brief || strcmp(kernel->brief, brief) == 0);
}

static double time_under(const ProfileView *view, const OpFilter *filter, const char *brief)
{
    double sum = 0;
    for (int i = 0; i < view->n_kernels; i++) {
        if (counts(view, filter, i, brief)) sum += view->kernels[i].time.total;
    }
    return sum;
}

/* The name with most time of those with less than `below`, which becomes its time. */
static const char *next_kernel(const ProfileView *view, const OpFilter *filter, double *below)
{
    const char *best = NULL;
    double most = 0;
    for (int i = 0; i < view->n_kernels; i++) {
        if (!counts(view, filter, i, NULL)) continue;
        const double time = time_under(view, filter, view->kernels[i].brief);
        if (time >= *below || time <= most) continue;
        most = time;
        best = view->kernels[i].brief;
    }
    *below = most;
    return best;
}

const char *op_filter_kernel_name(const ProfileView *view, const OpFilter *filter, int rank)
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
        if (!counts(view, filter, i, brief) || x >= median) continue;
        for (int j = 0; j < view->n_kernels; j++) {
            const ViewStats *t = &view->kernels[j].time;
            if (counts(view, filter, j, brief) && t->med <= x) up_to += (double)t->n;
        }
        if (2 * up_to >= calls) median = x;
    }
    return median;
}

/* All calls under one name; what they deviate from their common mean is what they deviate from the
 * means of their ops and what those deviate from it. */
ViewStats op_filter_kernel_stats(const ProfileView *view, const OpFilter *filter, const char *brief)
{
    ViewStats sum = {.min = INFINITY};
    double squares = 0;
    for (int i = 0; i < view->n_kernels; i++) {
        const ViewStats *t = &view->kernels[i].time;
        if (!counts(view, filter, i, brief)) continue;
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
