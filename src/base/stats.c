#include "base/stats.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *x, int n)
{
    if (n > 0) qsort(x, (size_t)n, sizeof *x, ascending);
}

double stats_mean(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return n > 0 ? sum / n : NAN;
}

double stats_std(const double *x, int n)
{
    const double mean = stats_mean(x, n);
    double squares = 0;
    for (int i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? sqrt(squares / (n - 1)) : NAN;
}

/* The place of x among all doubles, as an unsigned number: a < b when order(a) < order(b). */
static uint64_t order(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double from_order(uint64_t place)
{
    const uint64_t bits = place >> 63 ? place & ~(UINT64_C(1) << 63) : ~place;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A sample, or with `centre` its distance from there. */
static double sample(const double *x, int i, const double *centre)
{
    return centre ? fabs(x[i] - *centre) : x[i];
}

/* The sample with k smaller ones, without sorting a copy: bisection over the order of doubles. */
static double ranked(const double *x, int n, int k, const double *centre)
{
    uint64_t low = 0, high = UINT64_MAX;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        int below = 0;
        for (int i = 0; i < n; i++) below += order(sample(x, i, centre)) <= middle;
        if (below > k)
            high = middle;
        else
            low = middle + 1;
    }
    return from_order(low);
}

static double quantile(const double *x, int n, double q, const double *centre)
{
    if (n <= 0) return NAN;
    const double place = fmin(fmax(q, 0), 1) * (n - 1);
    const int k = (int)place;
    const double low = ranked(x, n, k, centre);
    const double part = place - k;
    return part > 0 ? low + part * (ranked(x, n, k + 1, centre) - low) : low;
}

double stats_quantile(const double *x, int n, double q)
{
    return quantile(x, n, q, NULL);
}

double stats_median(const double *x, int n)
{
    return quantile(x, n, 0.5, NULL);
}

double stats_mad(const double *x, int n)
{
    const double median = stats_median(x, n);
    return quantile(x, n, 0.5, &median);
}

/* The largest k with P(fewer than k of n samples are below the median) <= 2.5 %. That number is binomial. */
int stats_median_rank(int n)
{
    static const double tail = 0.025, quantile = 1.959963984540054;
    enum {
        EXACT = 1000
    }; /* 2^-n is a normal double up to here, and beyond it the normal approximation is exact enough */
    if (n > EXACT) return (int)floor(0.5 * n + 0.5 - 0.5 * quantile * sqrt(n));
    double chance = ldexp(1, -n), sum = chance; /* of 0 below, of at most k */
    int k = 0;
    while (k < n && sum <= tail) {
        chance *= (double)(n - k) / (k + 1);
        sum += chance;
        k++;
    }
    return k;
}

void stats_median_interval(const double *x, int n, double *low, double *high)
{
    const int k = n > 0 ? stats_median_rank(n) : 0;
    *low = k > 0 ? ranked(x, n, k - 1, NULL) : NAN;
    *high = k > 0 ? ranked(x, n, n - k, NULL) : NAN;
}

/* P(|T| <= t) for a whole number of degrees of freedom, theta = atan(t / sqrt(dof)): a finite sum
 * (Abramowitz and Stegun 26.7.3 and 26.7.4). */
static double t_within(double theta, int dof)
{
    const double c = cos(theta), s = sin(theta);
    const bool odd = dof % 2 == 1;
    double term = odd ? c : 1, sum = 0;
    for (int k = odd ? 3 : 2; k <= dof; k += 2) {
        sum += term;
        term *= c * c * (k - 1) / k;
    }
    return odd ? (theta + s * sum) * M_2_PI : s * sum;
}

double stats_t_quantile(double p, int dof)
{
    if (!(p > 0 && p < 1) || dof < 1) return NAN;
    const double within = fabs(2 * p - 1);
    double low = 0, high = M_PI_2;
    for (int i = 0; i < 64; i++) {
        const double middle = 0.5 * (low + high);
        if (t_within(middle, dof) < within)
            low = middle;
        else
            high = middle;
    }
    return copysign(tan(low) * sqrt(dof), p - 0.5);
}

double stats_ci95(const double *x, int n)
{
    if (n < 2) return NAN;
    return stats_t_quantile(0.975, n - 1) * stats_std(x, n) / sqrt(n);
}

StatsSummary stats_summary(const double *x, int n)
{
    const double mean = stats_mean(x, n), half = stats_ci95(x, n);
    double low, high;
    stats_median_interval(x, n, &low, &high);
    return (StatsSummary){
        .n = n,
        .mean = mean,
        .std = stats_std(x, n),
        .min = stats_quantile(x, n, 0),
        .max = stats_quantile(x, n, 1),
        .median = stats_median(x, n),
        .mad = stats_mad(x, n),
        .ci95_low = mean - half,
        .ci95_high = mean + half,
        .median_low = low,
        .median_high = high,
    };
}

/* Distance from the median in MADs. Where more than half of the samples are equal the MAD is 0, and
 * any other sample is an outlier. */
static double score(double x, double median, double mad)
{
    const double least = DBL_EPSILON * fabs(median) + DBL_MIN;
    return (x - median) / (mad > least ? mad : least);
}

bool stats_first_is_slow(const double *x, int n)
{
    return n > 2 && score(x[0], stats_median(x, n), stats_mad(x, n)) > STATS_OUTLIER;
}
