/* Random numbers without state: value = f(seed, stream, index).
 *
 * Any element can be made by any thread in any order, and is the same, bit for bit, on every
 * machine: integers and + - * / of doubles only. rng.c must be compiled with -ffp-contract=off. */
#pragma once

#include <stdint.h>

uint64_t rng_bits(uint64_t seed, uint64_t stream, uint64_t index);
double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index); /* [0, 1) */
/* [0, n) for n > 0, without bias worth naming (n / 2^64). */
int64_t rng_below(uint64_t seed, uint64_t stream, uint64_t index, int64_t n);

/* dst[i] = element first_index + i of a normal distribution of mean 0 and standard deviation `std`
 * before it is cut at 3 std. The first call builds a table (some milliseconds). Threads may call at once,
 * each for its own part. */
void rng_truncated_normal(float *dst, int64_t n, uint64_t seed, uint64_t stream,
                          int64_t first_index, double std);
