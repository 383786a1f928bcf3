/* Statistics of a handful of samples.
 *
 * Nothing allocates or fails. What is undefined is NAN, and reports show it as a dash: everything of
 * no sample at all, and of one sample its std and its interval. */
#pragma once

#include <stdbool.h>

typedef struct StatsSummary {
    int n;
    double mean, std, min, max, median, mad;
    double ci95_low, ci95_high;     /* of the mean, by Student's t */
    double median_low, median_high; /* 95 % interval of the median, by ranks; NAN of fewer than 6 */
} StatsSummary;

StatsSummary stats_summary(const double *x, int n);

void stats_sort(double *x, int n); /* ascending */
double stats_mean(const double *x, int n);
double stats_std(const double *x, int n); /* of a sample: divides by n - 1 */
double stats_median(const double *x, int n);
double stats_mad(const double *x, int n); /* median of |x - median|, not scaled */
/* 0 <= q <= 1, between the neighbours in proportion (as numpy's default); 0: the least, 1: the greatest. */
double stats_quantile(const double *x, int n, double q);
/* Half the width of the 95 % interval of the mean. */
double stats_ci95(const double *x, int n);

/* The 95 % interval of the median: the samples of rank k from either end. Nothing is assumed of
 * their distribution. Fewer than 6 samples have none: both are NAN. */
enum { STATS_MEDIAN_LEAST = 6 };
void stats_median_interval(const double *x, int n, double *low, double *high);
/* That k, counted from 1; 0 where there is none. */
int stats_median_rank(int n);

/* t with P(T <= t) = p for Student's T with `dof` degrees of freedom, 0 < p < 1. */
double stats_t_quantile(double p, int dof);

/* |x - median| / MAD beyond this is an outlier: ten standard deviations of a normal distribution,
 * so that only interference counts. */
#define STATS_OUTLIER 14.826
bool stats_first_is_slow(const double *x,
                         int n); /* the first sample is an outlier above the rest */
