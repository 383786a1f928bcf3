#include "base/growth_terms.h"

#include "base/i64.h"

#include <math.h>
#include <stdbool.h>

/* Different n in order. */
typedef struct Sorted {
    double n[GROWTH_FIT_MOST], y[GROWTH_FIT_MOST];
    int m;
} Sorted;

static void insert(Sorted *s, double n, double y)
{
    int at = s->m;
    for (int i = 0; i < s->m; i++) {
        if (s->n[i] == n) return;
    }
    for (; at > 0 && s->n[at - 1] > n; at--) s->n[at] = s->n[at - 1], s->y[at] = s->y[at - 1];
    s->n[at] = n, s->y[at] = y;
    s->m++;
}

/* The polynomial through the first, the last and, of degree 2, the middle one of the points. */
static void interpolate(const Sorted *s, int first, int last, GrowthTerms *t)
{
    const double x0 = s->n[first], x1 = s->n[last], y0 = s->y[first], y1 = s->y[last];
    const double slope = t->degree > 0 ? (y1 - y0) / (x1 - x0) : 0;
    double square = 0;
    if (t->degree > 1) {
        const double x = s->n[(first + last) / 2], y = s->y[(first + last) / 2];
        square = (y0 + slope * (x - x0) - y) / ((x - x0) * (x1 - x));
    }
    /* y0 + slope (n - x0) + square (n - x0) (n - x1) */
    t->term[0] = y0 - slope * x0 + square * x0 * x1;
    t->term[1] = slope - square * (x0 + x1);
    t->term[2] = square;
}

/* An allocator rounds sizes up: to 0.01 % of the figure, and to 0.5 % of how much it grows. */
static bool reproduces(const GrowthTerms *t, const Sorted *s, int first, int last)
{
    const double grown = t->degree > 0 ? fabs(s->y[last] - s->y[first]) : INFINITY;
    for (int i = first; i <= last; i++) {
        const double n = s->n[i], y = t->term[0] + n * (t->term[1] + n * t->term[2]);
        if (fabs(y - s->y[i]) > fmin(1e-4 * s->y[i], 5e-3 * grown)) return false;
    }
    return true;
}

/* Rounded sizes look like a small term of the next degree. */
static bool is_needed(const GrowthTerms *t, const Sorted *s, int first, int last)
{
    if (t->degree == 0) return true;
    const double grown = fabs(s->y[last] - s->y[first]);
    return fabs(t->term[t->degree]) * pow(s->n[last], t->degree) > 0.02 * grown;
}

/* A term that the rounding of doubles alone put there is none. */
static void drop_dust(GrowthTerms *t, const Sorted *s, int first, int last)
{
    static const double dust = 1e-9;
    for (int d = 0; d <= t->degree; d++) {
        const double at_first = fabs(t->term[d]) * pow(s->n[first], d) / s->y[first];
        const double at_last = fabs(t->term[d]) * pow(s->n[last], d) / s->y[last];
        if (fmax(at_first, at_last) < dust) t->term[d] = 0;
    }
}

static GrowthTerms try_run(const Sorted *s, int first, int last, int degree)
{
    GrowthTerms t = {
        .degree = degree, .points = last - first + 1, .from = s->n[first], .to = s->n[last]};
    interpolate(s, first, last, &t);
    if (!reproduces(&t, s, first, last) || !is_needed(&t, s, first, last)) t.degree = -1;
    drop_dust(&t, s, first, last);
    return t;
}

/* The longest run of points that terms of this degree reproduce, `spare` of them beyond what they
 * were made from. */
static GrowthTerms find(const Sorted *s, int degree, int spare)
{
    const int64_t least = i64_max(3, i64_max(degree + 1 + spare, s->m / 2 + 1));
    for (int length = s->m; length >= least; length--) {
        for (int last = s->m - 1; last >= length - 1; last--) {
            const GrowthTerms t = try_run(s, last - length + 1, last, degree);
            if (t.degree >= 0) return t;
        }
    }
    return (GrowthTerms){.degree = -1};
}

GrowthTerms growth_terms(const GrowthPoint *points, int n)
{
    const int m = (int)i64_min(n, GROWTH_FIT_MOST);
    Sorted s = {.m = 0};
    GrowthTerms best = {.degree = -1};
    for (int i = 0; i < m; i++) insert(&s, points[i].n, points[i].y);
    for (int degree = 0; degree <= 2; degree++) {
        const GrowthTerms found = find(&s, degree, 1);
        if (found.degree >= 0 && found.points > best.points) best = found;
    }
    if (best.degree < 0 && s.m == 3) best = find(&s, 2, 0);
    return best;
}
