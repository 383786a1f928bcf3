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
