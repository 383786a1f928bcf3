#include "base/rank_test.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    MOST_PAIRS = RANK_TEST_EXACT * RANK_TEST_EXACT,
    MOST = 2 * RANK_TEST_EXACT,               /* samples */
    MOST_SUM = 2 * RANK_TEST_EXACT * MOST + 1 /* of twice the ranks of one side */
};

static const double Z_975 = 1.959963984540054; /* of a normal distribution, 97.5 % are below */

/* ways[u]: in how many orders of n and m distinct samples u pairs have a < b. Its generating function is
 * the product of (1 - x^(m+i)) / (1 - x^i), i = 1 .. n; the sum is (n+m over n), below 2^38. */
static void count_ways(int n, int m, int64_t ways[MOST_PAIRS + 1])
{
    const int pairs = n * m;
    memset(ways, 0, (size_t)(pairs + 1) * sizeof *ways);
    ways[0] = 1;
    for (int i = 1; i <= n; i++) {
        for (int u = pairs; u >= m + i; u--) ways[u] -= ways[u - m - i];
        for (int u = i; u <= pairs; u++) ways[u] += ways[u - i];
    }
}

static int64_t sum_of(const int64_t *ways, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) sum += ways[i];
    return sum;
}

static bool is_small(int na, int nb)
{
    return na <= RANK_TEST_EXACT && nb <= RANK_TEST_EXACT;
}

/* How many samples have the value x[i]; they follow one another. */
static int run_at(const double *x, int n, int i)
{
    int length = 0;
    while (i + length < n && x[i + length] == x[i]) length++;
    return length;
}

/* Pairs with a < b, ties as half, and the sum of t^3 - t over the groups of t equal samples. */
static double count_pairs(const double *a, int na, const double *b, int nb, double *ties)
{
    double u = 0;
    *ties = 0;
    for (int i = 0, j = 0; i < na || j < nb;) {
        const bool from_a = j == nb || (i < na && a[i] <= b[j]);
        const bool from_b = i == na || (j < nb && b[j] <= a[i]);
        const int of_a = from_a ? run_at(a, na, i) : 0, of_b = from_b ? run_at(b, nb, j) : 0;
        const double t = (double)of_a + of_b;
        u += of_b * (i + 0.5 * of_a);
        *ties += t * t * t - t;
        i += of_a;
        j += of_b;
    }
    return u;
}

/* Twice the rank of every sample, equal ones sharing their middle: whole numbers. */
static void double_ranks(const double *a, int na, const double *b, int nb, int ranks[MOST])
{
    for (int i = 0, j = 0; i < na || j < nb;) {
        const double x = j == nb || (i < na && a[i] <= b[j]) ? a[i] : b[j];
        const int of_a = i < na && a[i] == x ? run_at(a, na, i) : 0;
        const int of_b = j < nb && b[j] == x ? run_at(b, nb, j) : 0;
        for (int k = 0; k < of_a + of_b; k++) ranks[i + j + k] = 2 * (i + j) + of_a + of_b + 1;
        i += of_a;
        j += of_b;
    }
}

/* Of all ways to call nb of the samples b's, the share whose sum of ranks is at least as far from
 * the middle. */
static double exact_p(double u, const double *a, int na, const double *b, int nb)
{
    int64_t ways[RANK_TEST_EXACT + 1][MOST_SUM] = {{1}}; /* of how many, and of which sum */
    int ranks[MOST];
    double_ranks(a, na, b, nb, ranks);
    for (int i = 0; i < na + nb; i++) {
        for (int k = nb < i + 1 ? nb : i + 1; k > 0; k--) {
            for (int s = ranks[i]; s < MOST_SUM; s++) ways[k][s] += ways[k - 1][s - ranks[i]];
        }
    }
    const double middle = nb * (na + nb + 1.0), distance = fabs(2 * u - (double)na * nb);
    int64_t all = 0, far = 0;
    for (int s = 0; s < MOST_SUM; s++) {
        all += ways[nb][s];
        if (fabs(s - middle) >= distance) far += ways[nb][s];
    }
    return (double)far / (double)all;
}

static double normal_p(double u, int na, int nb, double ties)
{
    const double pairs = (double)na * nb, n = (double)na + nb;
    const double variance = pairs / 12 * (n + 1 - ties / (n * (n - 1)));
    const double distance = fmax(0, fabs(u - pairs / 2) - 0.5);
    return variance > 0 ? erfc(distance / sqrt(2 * variance)) : 1;
}

RankTest rank_test_mann_whitney(const double *a, int na, const double *b, int nb)
{
    double ties;
    if (na < 1 || nb < 1) return (RankTest){NAN, NAN, false};
    RankTest test = {.u = count_pairs(a, na, b, nb, &ties)};
    test.exact = is_small(na, nb);
    test.p = test.exact ? exact_p(test.u, a, na, b, nb) : normal_p(test.u, na, nb, ties);
    return test;
}

/* How many of all ratios b / a are at most x: a walk along both sorted samples, because the ratio
 * falls with a and rises with b, rounded too. */
static int64_t ratios_up_to(const double *a, int na, const double *b, int nb, double x)
{
    int64_t found = 0;
    for (int i = 0, j = 0; i < na; i++) {
        while (j < nb && b[j] / a[i] <= x) j++;
        found += j;
    }
    return found;
}

/* The ratio with k smaller ones, without making them all: bisection over the bits of a positive
 * double, whose order is that of the numbers. */
static double ranked(const double *a, int na, const double *b, int nb, int64_t k)
{
    uint64_t low = 0, high = UINT64_C(0x7ff0000000000000);
    double x;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        memcpy(&x, &middle, sizeof x);
        if (ratios_up_to(a, na, b, nb, x) > k)
            high = middle;
        else
            low = middle + 1;
    }
    memcpy(&x, &low, sizeof x);
    return x;
}

/* The largest k with P(U < k) <= 2.5 %; 0 when there is none. */
static int64_t cut(int na, int nb)
{
    const double pairs = (double)na * nb;
    if (!is_small(na, nb)) {
        const double k = floor(pairs / 2 + 0.5 - Z_975 * sqrt(pairs * ((double)na + nb + 1) / 12));
        return k > 0 ? (int64_t)k : 0;
    }
    int64_t ways[MOST_PAIRS + 1];
    count_ways(na, nb, ways);
    const int64_t all = sum_of(ways, na * nb + 1);
    int64_t below = 0;
    int k = 0;
    while (40 * (below + ways[k]) <= all) below += ways[k++];
    return k;
}

RankRatio rank_test_ratio(const double *a, int na, const double *b, int nb)
{
    if (na < 1 || nb < 1) return (RankRatio){NAN, NAN, NAN};
    const int64_t pairs = (int64_t)na * nb, k = cut(na, nb);
    /* The geometric middle of the two, so that b against a is the inverse of a against b. */
    const double ratio =
        sqrt(ranked(a, na, b, nb, (pairs - 1) / 2)) * sqrt(ranked(a, na, b, nb, pairs / 2));
    if (k == 0) return (RankRatio){ratio, NAN, NAN};
    return (RankRatio){ratio, ranked(a, na, b, nb, k - 1), ranked(a, na, b, nb, pairs - k)};
}
