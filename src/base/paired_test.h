/* Which of two programs takes longer, from pairs of neighbouring runs, looked at after every pair.
 *
 * d[i] is the logarithm of the second program's time over the first one's in pair i, and a fair coin has said
 * which of the two ran first. If they take equally long, d[i] is as likely positive as negative, whatever the
 * sizes |d| of all pairs and the signs of the others are: noise may be heavy-tailed, drifting or correlated.
 *
 * So the test bets on signs. It starts with a capital of 1 and stakes a part of it on "positive" in each
 * pair; the stake depends on sizes only. The game is fair, so the capital ever reaches 1 / error with a
 * probability of at most `error` (Ville's inequality): one may look after every pair and stop at will. The
 * stake is the one that wins most if noise has Student's t distribution around a shift of about the median
 * size: on a wild pair little is staked. Pairs all of one sign decide from about seven on. */
#pragma once

#include <stdbool.h>

enum { PAIRED_TEST_MOST = 1024 }; /* pairs; later ones are not looked at */

/* The middle of d is above `center` (sign 1) or below it (sign -1); wrong with a probability of at most
 * `error` over all looks together. */
bool paired_test_beyond(const double *d, int n, double center, int sign, double error);

typedef struct PairedInterval {
    double
        middle; /* Hodges and Lehmann: the median of the means of any two of d; NAN without pairs */
    double low, high; /* paired_test_beyond() excludes what is outside, with error / 2 on each side;
                       * infinite: there are too few pairs */
} PairedInterval;

PairedInterval paired_test_interval(const double *d, int n, double error);
