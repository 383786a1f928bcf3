#include "bench/profile_figure.h"

#include "prof/part.h"

#include <math.h>
#include <string.h>

static const double per_ms = 1e-6; /* of nanoseconds */

/* The rows of ops that count; NULL or PHASE_COUNT: any. */
typedef struct Filter {
    const char *category, *part;
    Phase phase;
    bool attention; /* any part of it, the residual aside */
} Filter;

static bool takes(const Filter *filter, const ViewOp *op)
{
    if (filter->phase != PHASE_COUNT && op->phase != filter->phase) return false;
    if (filter->category && strcmp(op->category, filter->category) != 0) return false;
    if (filter->part && (!op->part || strcmp(op->part, filter->part) != 0)) return false;
    return !filter->attention || (op->part && strcmp(op->part, part_name(PART_RESIDUAL)) != 0);
}

/* Nanoseconds of one step; NAN: no row is taken. */
static double time_of(const ProfileView *view, const Filter *filter)
{
    double sum = 0;
    bool any = false;
    for (int i = 0; i < view->n_ops; i++) {
        if (!takes(filter, &view->ops[i])) continue;
        sum += view->ops[i].time.total / (double)view->steps;
        any = true;
    }
    return any ? sum : NAN;
}

static bool is(const char *what, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(what, word, n) == 0;
}

static double launches(const ProfileView *view, Phase phase)
{
    double sum = 0;
    if (view->gpu) return (double)view->phases[phase].kernels / (double)view->steps;
    for (int i = 0; i < view->n_ops; i++) {
        if (view->ops[i].phase == phase) sum += view->ops[i].nodes;
    }
    return sum;
}

static double of_phase(const ProfileView *view, const char *what, size_t n, Phase phase)
{
    if (phase == PHASE_COUNT || !view->phases[phase].there) return NAN;
    if (is(what, n, "wall")) return view->phases[phase].wall.avg * per_ms;
    if (is(what, n, "std")) return view->phases[phase].wall.std * per_ms;
    return is(what, n, "launches") ? launches(view, phase) : NAN;
}

/* "matmul", or "matmul forward": its time in %, of that phase or of the whole step. */
static double percent(const ProfileView *view, const char *name, bool of_step)
{
    char category[64];
    const size_t n = strcspn(name, " ");
    if (n >= sizeof category) return NAN;
    memcpy(category, name, n);
    category[n] = '\0';
    const Phase phase = name[n] ? profile_view_phase(name + n + 1) : PHASE_COUNT;
    const Filter some = {.category = category, .phase = phase};
    const Filter all = {.phase = of_step ? PHASE_COUNT : phase};
    return 100 * time_of(view, &some) / time_of(view, &all);
}

double profile_figure(const ProfileView *view, const char *what)
{
    const size_t n = strcspn(what, " ");
    const char *name = what[n] ? what + n + 1 : "";
    const Filter part = {.part = name, .phase = PHASE_FORWARD};
    const Filter attention = {.attention = true, .phase = PHASE_FORWARD};
    const Filter all = {.phase = PHASE_COUNT};
    if (is(what, n, "part")) return time_of(view, &part) * per_ms;
    if (is(what, n, "attention")) return time_of(view, &attention) * per_ms;
    if (is(what, n, "device")) return time_of(view, &all) * per_ms;
    if (is(what, n, "category")) return percent(view, name, false);
    if (is(what, n, "share")) return percent(view, name, true);
    return of_phase(view, what, n, profile_view_phase(name));
}
