#include "base/rank_test.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    MOST = 2 * RANK_TEST_EXACT,               /* samples */
    MOST_SUM = 2 * RANK_TEST_EXACT * MOST + 1 /* of twice the ranks of one side */
};

static const double Z_975 = 1.959963984540054; /* of a normal distribution, 97.5 % are below */

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

/* Pairs with a < b, ties as half, and the sum of t^3 - t over the groups of t equal samples. `ranks`, unless
 * NULL, gets twice the rank of every sample. Equal samples share the mean of their ranks: whole numbers. */
static double count_pairs(const double *a, int na, const double *b, int nb, double *ties,
                          int *ranks)
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
        for (int k = 0; ranks && k < of_a + of_b; k++)
            ranks[i + j + k] = 2 * (i + j) + of_a + of_b + 1;
        i += of_a;
        j += of_b;
    }
    return u;
}

/* How many ways there are to call nb of the n samples b's, by the sum of their ranks. All of them together
 * are below 2^38. */
typedef struct Ways {
    int64_t all, of[RANK_TEST_EXACT + 1][MOST_SUM]; /* of how many b's, and of which sum */
} Ways;

static void count_ways(const int *ranks, int n, int nb, Ways *ways)
{
    *ways = (Ways){.of = {{1}}};
    for (int i = 0; i < n; i++) {
        for (int k = nb < i + 1 ? nb : i + 1; k > 0; k--) {
            for (int s = ranks[i]; s < MOST_SUM; s++)
                ways->of[k][s] += ways->of[k - 1][s - ranks[i]];
        }
    }
    for (int s = 0; s < MOST_SUM; s++) ways->all += ways->of[nb][s];
}

/* Of all ways to call nb of the samples b's, the share whose sum of ranks is at least as far from
 * the middle. */
static double exact_p(double u, const int *ranks, int na, int nb)
{
    Ways ways;
    int64_t far = 0;
    count_ways(ranks, na + nb, nb, &ways);
    const double middle = nb * (na + nb + 1.0), distance = fabs(2 * u - (double)na * nb);
    for (int s = 0; s < MOST_SUM; s++) {
        if (fabs(s - middle) >= distance) far += ways.of[nb][s];
    }
    return (double)far / (double)ways.all;
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
    int ranks[MOST];
    if (na < 1 || nb < 1) return (RankTest){NAN, NAN, false};
    const bool exact = is_small(na, nb);
    const double u = count_pairs(a, na, b, nb, &ties, exact ? ranks : NULL);
    const double p = exact ? exact_p(u, ranks, na, nb) : normal_p(u, na, nb, ties);
    return (RankTest){u, p, exact};
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
    Ways ways;
    int ranks[MOST];
    int64_t below = 0;
    for (int i = 0; i < na + nb; i++) ranks[i] = 2 * (i + 1);
    count_ways(ranks, na + nb, nb, &ways);
    /* Twice the ranks of the b's sum up to nb (nb + 1) + 2 U. */
    const int64_t *with_u = ways.of[nb] + nb * (nb + 1);
    int k = 0;
    while (40 * (below + with_u[2 * k]) <= ways.all) below += with_u[2 * k++];
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
