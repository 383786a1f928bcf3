/* Repetitions -> a rate with its spread. */
#ifndef BENCH_LIMITS_LIMITS_RATE_H
#define BENCH_LIMITS_LIMITS_RATE_H

#include "base/stats.h"
#include "bench/limits/limits.h"

enum { LIMITS_RATE_MAX = 64 };

static inline LimitsRate limits_rate_of(const double *rates, int n)
{
    if (n == 0) return (LimitsRate){0};
    return (LimitsRate){stats_median(rates, n), stats_min(rates, n), stats_max(rates, n), n};
}

#endif
