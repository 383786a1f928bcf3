/* Arithmetic on sizes, counts and offsets. */
#pragma once

#include <stdint.h>

static inline int64_t i64_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t i64_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* n / by, rounded up; n >= 0, by > 0. */
static inline int64_t i64_ceil_div(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* The smallest multiple of `to` that is not below n. */
static inline int64_t i64_round_up(int64_t n, int64_t to)
{
    return i64_ceil_div(n, to) * to;
}
