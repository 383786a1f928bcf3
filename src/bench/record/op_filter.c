#include "bench/record/op_filter.h"

#include "prof/part.h"

#include <math.h>
#include <string.h>

static bool is_part(const char *name, Part part)
{
    return strcmp(name, part_name(part)) == 0;
}

static bool is_linear(const char *part)
{
    return is_part(part, PART_QKV) || is_part(part, PART_OUTPUT);
}

static bool is_core(const char *part)
{
    return is_part(part, PART_SCORES) || is_part(part, PART_SOFTMAX) ||
           is_part(part, PART_VALUES) || is_part(part, PART_CORE);
}

static bool is_misc(const char *part)
{
    const bool rope = is_part(part, PART_ROPE_Q) || is_part(part, PART_ROPE_K);
    return !rope && !is_linear(part) && (!is_core(part) || is_part(part, PART_CORE));
}

static bool is_there(OpWhere where, const char *part)
{
    const bool in = part && !is_part(part, PART_RESIDUAL);
    switch (where) {
    case OP_WHERE_ATTENTION:
        return in;
    case OP_WHERE_BESIDE:
        return !in;
    case OP_WHERE_LINEAR:
        return in && is_linear(part);
    case OP_WHERE_CORE:
        return in && is_core(part);
    case OP_WHERE_MISC:
        return in && is_misc(part);
    default:
        return true;
    }
}

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

bool op_filter_takes(const OpFilter *filter, const ViewOp *op)
{
    if (filter->phase != PHASE_COUNT && op->phase != filter->phase) return false;
    if (filter->part && (!op->part || strcmp(op->part, filter->part) != 0)) return false;
    if (filter->categories && !(filter->categories & 1U << op->category)) return false;
    return is_there(filter->where, op->part);
}

double op_filter_time(const ProfileView *view, const OpFilter *filter)
{
    double sum = 0;
    bool any = false;
    for (int i = 0; i < view->n_ops; i++) {
        if (!op_filter_takes(filter, &view->ops[i])) continue;
        sum += view->ops[i].time.total;
        any = true;
    }
    return any ? sum : NAN;
}

double op_filter_calls(const ProfileView *view, const OpFilter *filter)
{
    double sum = 0;
    for (int i = 0; i < view->n_ops; i++) {
        if (!op_filter_takes(filter, &view->ops[i])) continue;
        sum += view->gpu ? profile_view_calls(view, i) : view->ops[i].nodes;
    }
    return sum * (double)view->steps;
}

/* ---- kernels by their time ---- */

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
        if (!is_same(view, filter, i, brief) || x >= median) continue;
        for (int j = 0; j < view->n_kernels; j++) {
            const ViewStats *t = &view->kernels[j].time;
            if (is_same(view, filter, j, brief) && t->med <= x) up_to += (double)t->n;
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
