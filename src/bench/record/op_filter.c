#include "bench/record/op_filter.h"

#include "prof/part.h"

#include <math.h>
#include <string.h>

static bool is_one_of(const char *name, const char *const *list)
{
    for (; name && *list; list++) {
        if (strcmp(name, *list) == 0) return true;
    }
    return false;
}

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

static bool is_of_category(const char *asked, const char *category)
{
    static const char *const named[] = {"matmul",  "elementwise", "optimizer",
                                        "softmax", "reduction",   NULL};
    if (!asked) return true;
    return strcmp(asked, "other") == 0 ? !is_one_of(category, named) : strcmp(asked, category) == 0;
}

bool op_filter_takes(const OpFilter *filter, const ViewOp *op)
{
    if (filter->phase != PHASE_COUNT && op->phase != filter->phase) return false;
    if (filter->part && (!op->part || strcmp(op->part, filter->part) != 0)) return false;
    return is_of_category(filter->category, op->category) && is_there(filter->where, op->part);
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
