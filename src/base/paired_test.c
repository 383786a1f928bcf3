#include "base/paired_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shifts that are bet on, in units of the median size so far, each with its share of the capital: noise
 * that is smaller than the shift, as large, and, for long runs on a noisy machine, much larger. */
static const struct {
    double shift, share;
} bets[] = {{1.4, 0.45}, {0.7, 0.45}, {0.2, 0.1}};
enum { BETS = sizeof bets / sizeof *bets };
static const double width = 0.7;         /* of the noise, in the same unit */
static const double freedom = 2;         /* of Student's t: heavy tails */
static const double least_median = 1e-7; /* sizes may be 0 */

/* Sizes so far, in order. */
typedef struct Sizes {
    double list[PAIRED_TEST_MOST];
    int n;
} Sizes;

static void add_size(Sizes *sizes, double x)
{
    int low = 0, high = sizes->n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sizes->list[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(sizes->list + low + 1, sizes->list + low, (size_t)(sizes->n - low) * sizeof(double));
    sizes->list[low] = x;
    sizes->n++;
}

static double middle_of(const double *x, int n)
{
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* The chance that a pair of this size is positive if there is such a shift. */
static double chance(double size, double shift)
{
    const double near = (size - shift) / width, far = (size + shift) / width;
    const double odds =
        pow((1 + far * far / freedom) / (1 + near * near / freedom), (freedom + 1) / 2);
    return odds / (1 + odds);
}

/* The logarithm of the capital after n pairs. */
static double log_capital(const double *d, int n, double center, int sign, Sizes *sizes)
{
    double capital[BETS] = {0}, most = -INFINITY, sum = 0;
    sizes->n = 0;
    for (int i = 0; i < n && i < PAIRED_TEST_MOST; i++) {
        const double x = sign * (d[i] - center), size = fabs(x);
        add_size(sizes, size);
        const double median = fmax(middle_of(sizes->list, sizes->n), least_median);
        for (int k = 0; k < BETS && size > 0; k++) {
            const double p = chance(size / median, bets[k].shift);
            capital[k] += log(2 * (x > 0 ? p : 1 - p));
        }
    }
    for (int k = 0; k < BETS; k++) most = fmax(most, capital[k]);
    for (int k = 0; k < BETS; k++) sum += bets[k].share * exp(capital[k] - most);
    return most + log(sum);
}

bool paired_test_beyond(const double *d, int n, double center, int sign, double error)
{
    Sizes sizes;
    return n > 0 && log_capital(d, n, center, sign, &sizes) >= -log(error);
}

/* ---- the interval ---- */

static int in_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of d beyond a few hundred pairs, where there are too many means. */
static double middle_of_means(const double *d, int n)
{
    enum { MOST = 200 };
    double means[MOST * (MOST + 1) / 2];
    int found = 0;
    if (n > MOST) d += n - MOST, n = MOST;
    for (int i = 0; i < n; i++) {
        for (int k = i; k < n; k++) means[found++] = (d[i] + d[k]) / 2;
    }
    qsort(means, (size_t)found, sizeof *means, in_order);
    return middle_of(means, found);
}

/* The center nearest to the middle that is excluded on one side, to a millionth. */
static double bound(const double *d, int n, double middle, int sign, double error)
{
    double reach = 1e-6;
    for (int i = 0; i < n; i++) reach = fmax(reach, 64 * fabs(d[i] - middle));
    double out = middle - sign * reach, in = middle;
    if (!paired_test_beyond(d, n, out, sign, error)) return sign > 0 ? -INFINITY : INFINITY;
    while (fabs(out - in) > 1e-6) {
        const double center = (out + in) / 2;
        if (paired_test_beyond(d, n, center, sign, error))
            out = center;
        else
            in = center;
    }
    return in;
}

PairedInterval paired_test_interval(const double *d, int n, double error)
{
    if (n < 1) return (PairedInterval){NAN, -INFINITY, INFINITY};
    if (n > PAIRED_TEST_MOST) n = PAIRED_TEST_MOST;
    const double middle = middle_of_means(d, n);
    return (PairedInterval){middle, bound(d, n, middle, 1, error / 2),
                            bound(d, n, middle, -1, error / 2)};
}
