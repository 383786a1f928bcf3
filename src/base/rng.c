/* Bits: the splitmix64 generator, whose start is a mix of seed and stream.
 *
 * Truncated normal: |x| by the inverse of its distribution function
 *     F(x) = S(x) / S(3),   S(x) = integral of exp(-t^2 / 2) from 0 to x,
 * tabled at SEGMENTS + 1 equal steps of F and read with straight lines between them (off by less than
 * 1e-4 std, at the far end of the tail); one more bit gives the sign. */
#include "base/rng.h"

#include <pthread.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t start(uint64_t seed, uint64_t stream)
{
    return mix(mix(seed + GOLDEN) ^ (stream + 1) * GOLDEN);
}

static inline uint64_t element(uint64_t first, uint64_t index)
{
    return mix(first + index * GOLDEN);
}

uint64_t rng_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    return element(start(seed, stream), index);
}

double rng_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(rng_bits(seed, stream, index) >> 11) * 0x1p-53;
}

int64_t rng_below(uint64_t seed, uint64_t stream, uint64_t index, int64_t n)
{
    __extension__ typedef unsigned __int128 Wide;
    return (int64_t)((Wide)rng_bits(seed, stream, index) * (uint64_t)n >> 64);
}

enum { SEGMENTS = 8192 };
static float quantiles[SEGMENTS + 1];
static pthread_once_t quantiles_once = PTHREAD_ONCE_INIT;

/* S(x) and S'(x) = exp(-x^2 / 2) by their series: terms of x^(2k) / (k! (-2)^k). For x <= 3 no term is
 * larger than 18, so that double precision loses two digits of sixteen. */
static double integral(double x, double *slope)
{
    double term = 1, sum = x;
    *slope = 1;
    for (int k = 1; k < 60; k++) {
        term *= -0.5 * x * x / k;
        *slope += term;
        sum += term * x / (2 * k + 1);
    }
    return sum;
}

/* Newton's method, each point started from the one before. */
static void make_quantiles(void)
{
    double slope;
    const double whole = integral(3, &slope);
    double x = 0;
    integral(x, &slope);
    for (int i = 1; i < SEGMENTS; i++) {
        const double target = whole * i / SEGMENTS;
        x += whole / SEGMENTS / slope;
        for (int pass = 0; pass < 3; pass++) {
            const double missing = target - integral(x, &slope);
            x += missing / slope;
        }
        quantiles[i] = (float)x;
    }
    quantiles[0] = 0;
    quantiles[SEGMENTS] = 3;
}

void rng_truncated_normal(float *dst, int64_t n, uint64_t seed, uint64_t stream,
                          int64_t first_index, double std)
{
    pthread_once(&quantiles_once, make_quantiles);
    const uint64_t first = start(seed, stream);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = element(first, (uint64_t)first_index + (uint64_t)i);
        /* From the top: 13 bits of segment, 32 within it; the lowest is the sign. */
        const uint64_t segment = bits >> 51;
        const double part = (double)(uint32_t)(bits >> 19) * 0x1p-32;
        const double low = (double)quantiles[segment];
        const double high = (double)quantiles[segment + 1];
        const double sign = (bits & 1) != 0 ? -std : std;
        dst[i] = (float)((low + part * (high - low)) * sign);
    }
}
