#include "bench/record/op_change.h"

#include "base/array.h"
#include "bench/record/profile_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_op(const ViewOp *a, const ViewOp *b)
{
    return a->phase == b->phase && strcmp(a->scope, b->scope) == 0 && strcmp(a->op, b->op) == 0;
}

/* ns a step of every row that is this op, the median call counted for all: one slow call is no change. */
static double time_of(const ProfileView *view, const ViewOp *op)
{
    double ns = 0;
    for (int i = 0; view->steps > 0 && i < view->n_ops; i++) {
        const ViewStats *time = &view->ops[i].time;
        if (time->n > 0 && same_op(&view->ops[i], op))
            ns += time->med * (double)time->n / (double)view->steps;
    }
    return ns;
}

static void take_larger(OpChange *out, double *most, const ViewOp *op, double before, double after,
                        int sign)
{
    const double change = sign * (after - before);
    if (!(change > *most)) return;
    *most = change;
    out->before = before;
    out->after = after;
    snprintf(out->name, sizeof out->name, "%s of %s, %s%s%s", op->op, op->scope,
             plan_phase_name(op->phase), op->impl ? ", by " : "", op->impl ? op->impl : "");
}

static bool find(OpChange *out, const ProfileView *a, const ProfileView *b, int sign)
{
    double most = 0;
    for (int i = 0; i < b->n_ops; i++)
        take_larger(out, &most, &b->ops[i], time_of(a, &b->ops[i]), time_of(b, &b->ops[i]), sign);
    for (int i = 0; i < a->n_ops; i++)
        take_larger(out, &most, &a->ops[i], time_of(a, &a->ops[i]), time_of(b, &a->ops[i]), sign);
    return most > 0;
}

bool op_change_largest(OpChange *out, const Record *a, const Record *b, int sign)
{
    ProfileView view_a, view_b;
    if (profile_view_make(&view_a, a) != ST_OK) return false;
    const bool both = profile_view_make(&view_b, b) == ST_OK;
    const bool found = both && find(out, &view_a, &view_b, sign);
    if (both) profile_view_free(&view_b);
    profile_view_free(&view_a);
    return found;
}
