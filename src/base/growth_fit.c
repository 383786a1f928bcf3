#include "base/growth_fit.h"

#include "base/stats.h"

#include <math.h>
#include <stdbool.h>

/* log y = log b + log(r + x^k) + noise, with x = n / the largest n and r = a / b x^k there, r >= 0.
 * For given k and r the best log b is a mean; for given k the best r is found by golden section; k
 * is scanned. */
typedef struct Problem {
    int m;
    double log_x[GROWTH_FIT_MOST], log_y[GROWTH_FIT_MOST], weight[GROWTH_FIT_MOST];
    double weights;   /* their sum */
    double log_least; /* the least log_x */
    double typical;   /* spread of a point as a share of it; 0: not known */
} Problem;

typedef struct Best {
    double k, r, log_b, squares;
} Best;

static const double least_k = GROWTH_FIT_LEAST_EXPONENT, most_k = GROWTH_FIT_MOST_EXPONENT;

/* ---- squares ---- */

/* x[i] is that of point i to the power of k. */
static Best squares_at(const Problem *p, const double *x, double k, double r)
{
    double d[GROWTH_FIT_MOST], sum = 0, squares = 0;
    for (int i = 0; i < p->m; i++) {
        d[i] = p->log_y[i] - log(r + x[i]);
        sum += p->weight[i] * d[i];
    }
    const double mean = sum / p->weights;
    for (int i = 0; i < p->m; i++) squares += p->weight[i] * (d[i] - mean) * (d[i] - mean);
    return (Best){k, r, mean, squares};
}

static Best better(Best a, Best b)
{
    return b.squares < a.squares ? b : a;
}

/* Over r >= 0; at 1e30 times the largest x^k there is nothing but floor. */
static Best best_floor(const Problem *p, double k)
{
    static const double golden = 0.6180339887498949;
    double x[GROWTH_FIT_MOST], low = k * p->log_least - 6, high = 12;
    for (int i = 0; i < p->m; i++) x[i] = exp(k * p->log_x[i]);
    const Best best = better(squares_at(p, x, k, 0), squares_at(p, x, k, 1e30));
    double left = high - golden * (high - low), right = low + golden * (high - low);
    Best l = squares_at(p, x, k, exp(left)), r = squares_at(p, x, k, exp(right));
    for (int i = 0; i < 30; i++) {
        if (l.squares < r.squares) {
            high = right, right = left, r = l;
            left = high - golden * (high - low);
            l = squares_at(p, x, k, exp(left));
        } else {
            low = left, left = right, l = r;
            right = low + golden * (high - low);
            r = squares_at(p, x, k, exp(right));
        }
    }
    return better(best, better(l, r));
}

/* ---- exponent ---- */

static Best best_k(const Problem *p, double low, double high, int steps)
{
    Best best = best_floor(p, low);
    for (int i = 1; i <= steps; i++)
        best = better(best, best_floor(p, low + (high - low) * i / steps));
    return best;
}

/* A scan, then finer ones around the best. */
static Best best_law(const Problem *p)
{
    double width = (most_k - least_k) / 32;
    Best best = best_k(p, least_k, most_k, 32);
    for (int i = 0; i < 7; i++) {
        best =
            better(best, best_k(p, fmax(best.k - width, least_k), fmin(best.k + width, most_k), 8));
        width /= 4;
    }
    return best;
}

/* Where the squares pass `limit` between the best k and `end`; `end` if they do not. */
static double crossing(const Problem *p, double from, double end, double limit)
{
    if (best_floor(p, end).squares <= limit) return end;
    for (int i = 0; i < 24; i++) {
        const double middle = 0.5 * (from + end);
        if (best_floor(p, middle).squares <= limit)
            from = middle;
        else
            end = middle;
    }
    return 0.5 * (from + end);
}

/* ---- the problem ---- */

static const double row_noise = 0.01; /* between two runs of the same work, at the least */

/* The middle one of those that are known. */
static double typical_spread(const GrowthPoint *points, int m)
{
    double known[GROWTH_FIT_MOST];
    int n = 0;
    for (int i = 0; i < m; i++) {
        if (points[i].spread > 0) known[n++] = points[i].spread;
    }
    return n > 0 ? stats_median(known, n) : 0;
}

/* Half its own spread and half the typical one, since few samples tell little of a spread. */
static double weight(const GrowthPoint *point, double typical)
{
    const double own = point->spread > 0 ? point->spread : typical;
    return row_noise * row_noise /
           (0.5 * own * own + 0.5 * typical * typical + row_noise * row_noise);
}

static Problem make_problem(const GrowthPoint *points, int m, double most)
{
    Problem p = {.m = m, .typical = typical_spread(points, m)};
    for (int i = 0; i < m; i++) {
        p.log_x[i] = log(points[i].n / most);
        p.log_y[i] = log(points[i].y);
        p.weight[i] = weight(&points[i], p.typical);
        p.weights += p.weight[i];
        p.log_least = fmin(p.log_least, p.log_x[i]);
    }
    return p;
}

/* ---- is it such a law at all ---- */

/* What noise leaves of squares / dof in 99 of 100 cases (Wilson and Hilferty). */
static double chi2_99(int dof)
{
    const double c = 2.0 / (9 * dof), root = 1 - c + 2.3263 * sqrt(c);
    return root * root * root;
}

/* Rows of the same work differ by up to so much on a machine that is in use. */
static const double much_noise = 0.05;

static bool is_scattered(const Problem *p, const GrowthFit *fit, int dof)
{
    const double noise = much_noise * much_noise + p->typical * p->typical;
    return fit->scatter * fit->scatter > noise * chi2_99(dof);
}

static double dot(const Problem *p, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < p->m; i++) sum += p->weight[i] * a[i] * b[i];
    return sum;
}

/* Takes out of v what the n orthogonal columns explain of it. */
static void project_out(const Problem *p, double *v, double (*columns)[GROWTH_FIT_MOST], int n)
{
    for (int c = 0; c < n; c++) {
        const double length = dot(p, columns[c], columns[c]);
        const double part = length > 0 ? dot(p, v, columns[c]) / length : 0;
        for (int i = 0; i < p->m; i++) v[i] -= part * columns[c][i];
    }
}

/* Whether log y has a term in (log x)^2 that a + b n^k does not explain: at a level of 1 %, and
 * worth 2 % of y. The law is taken as linear in its unknowns around the best ones. */
static bool is_curved(const Problem *p, const Best *best, int dof)
{
    double columns[3][GROWTH_FIT_MOST], square[GROWTH_FIT_MOST], residual[GROWTH_FIT_MOST];
    int n = 0;
    if (dof < 2) return false;
    for (int i = 0; i < p->m; i++) {
        const double x = exp(best->k * p->log_x[i]), y = best->r + x;
        columns[0][i] = 1;
        columns[1][i] = x * p->log_x[i] / y;
        columns[2][i] = 1 / y;
        square[i] = p->log_x[i] * p->log_x[i];
        residual[i] = p->log_y[i] - best->log_b - log(y);
    }
    for (const int unknowns = best->r > 0 ? 3 : 2; n < unknowns; n++)
        project_out(p, columns[n], columns, n);
    project_out(p, square, columns, n);
    const double length = dot(p, square, square), along = dot(p, residual, square);
    if (!(length > 0)) return false;
    const double explained = along * along / length, t = stats_t_quantile(0.995, dof - 1);
    const double rest = fmax(best->squares - explained, 0) / (dof - 1);
    return explained > t * t * rest && explained > 0.02 * 0.02 * p->weights;
}

/* ---- all of it ---- */

/* Of b n^k alone. */
static double squares_without_floor(const Problem *p)
{
    double slope[GROWTH_FIT_MOST], one[1][GROWTH_FIT_MOST], y[GROWTH_FIT_MOST];
    for (int i = 0; i < p->m; i++) one[0][i] = 1, slope[i] = p->log_x[i], y[i] = p->log_y[i];
    project_out(p, slope, one, 1);
    project_out(p, y, one, 1);
    const double along = dot(p, slope, y);
    return dot(p, y, y) - along * along / dot(p, slope, slope);
}

/* The different n in order, and at each the mean of log y. */
typedef struct Distinct {
    int m;
    double n[GROWTH_FIT_MOST], log_y[GROWTH_FIT_MOST];
} Distinct;

/* The least n above `n`; INFINITY: none. */
static double next_n(const GrowthPoint *points, int m, double n)
{
    double next = INFINITY;
    for (int i = 0; i < m; i++) {
        if (points[i].n > n) next = fmin(next, points[i].n);
    }
    return next;
}

static Distinct find_distinct(const GrowthPoint *points, int m)
{
    Distinct d = {.m = 0};
    for (double n = next_n(points, m, 0); isfinite(n); n = next_n(points, m, n)) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < m; i++) {
            if (points[i].n == n) sum += log(points[i].y), count++;
        }
        d.n[d.m] = n;
        d.log_y[d.m++] = sum / count;
    }
    return d;
}

static void put_local(GrowthFit *fit, const Distinct *d)
{
    fit->local_low = INFINITY, fit->local_high = -INFINITY;
    for (int i = 1; i < d->m; i++) {
        const double slope = (d->log_y[i] - d->log_y[i - 1]) / log(d->n[i] / d->n[i - 1]);
        fit->local_low = fmin(fit->local_low, slope);
        fit->local_high = fmax(fit->local_high, slope);
    }
}

static void put_begin(GrowthFit *fit, const Distinct *d)
{
    int i = 0;
    while (i < d->m && fit->factor * pow(d->n[i], fit->exponent) <= fit->floor) i++;
    fit->beyond = d->m - i;
    fit->begins = !fit->floor_seen ? d->n[0] : i < d->m ? d->n[i] : INFINITY;
}

static void put_law(GrowthFit *fit, const Problem *p, const Best *best, double most, int dof)
{
    const double t = stats_t_quantile(0.975, dof);
    /* a perfect fit has rounding errors left */
    const double limit = best->squares * (1 + t * t / dof) + 1e-18 * p->weights;
    fit->exponent = best->k;
    fit->low = crossing(p, best->k, least_k, limit);
    fit->high = crossing(p, best->k, most_k, limit);
    fit->floor = exp(best->log_b) * best->r;
    fit->factor = exp(best->log_b) / pow(most, best->k);
    fit->floor_seen = squares_without_floor(p) > limit;
    fit->scatter = sqrt(best->squares / p->weights * p->m / dof);
}

static GrowthVerdict judge(const GrowthFit *fit, const Problem *p, const Best *best, int dof)
{
    if (fit->low <= least_k && fit->high >= most_k) return GROWTH_FLAT;
    if (is_scattered(p, fit, dof) || is_curved(p, best, dof)) return GROWTH_BENT;
    return fit->beyond < GROWTH_FIT_LEAST_BEYOND ? GROWTH_MOSTLY_FLOOR : GROWTH_LAW;
}

GrowthFit growth_fit_law(const GrowthPoint *points, int n)
{
    const int m = n < GROWTH_FIT_MOST ? n : GROWTH_FIT_MOST;
    const Distinct d = find_distinct(points, m);
    GrowthFit fit = {.verdict = GROWTH_FEW_POINTS, .points = d.m};
    fit.exponent = fit.low = fit.high = fit.floor = fit.factor = fit.begins = fit.scatter = NAN;
    fit.local_low = fit.local_high = NAN;
    if (fit.points < GROWTH_FIT_LEAST) return fit;
    const double most = d.n[d.m - 1];
    const Problem p = make_problem(points, m, most);
    const Best best = best_law(&p);
    /* Where no floor fits best, there are two unknowns. */
    const int dof = m - (best.r > 0 ? 3 : 2);
    put_law(&fit, &p, &best, most, dof);
    put_begin(&fit, &d);
    put_local(&fit, &d);
    fit.verdict = judge(&fit, &p, &best, dof);
    return fit;
}
