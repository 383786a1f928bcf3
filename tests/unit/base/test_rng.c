#include "base/rng.h"
#include "with_cmocka.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 18 };

static uint64_t fnv(const void *data, size_t n)
{
    const unsigned char *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The hashes come from the same formulas in another language: every machine must give these. */
static void bits_are_the_same_everywhere(void **state)
{
    (void)state;
    uint64_t bits[1000];
    float normal[1000];
    for (uint64_t i = 0; i < 1000; i++) bits[i] = rng_bits(42, 7, i);
    rng_truncated_normal(normal, 1000, 42, 7, 0, 0.02);
    assert_true(fnv(bits, sizeof bits) == UINT64_C(0xa81baf7e9cc83d8d));
    assert_true(fnv(normal, sizeof normal) == UINT64_C(0x75a324f80daae194));
}

static void chunks_do_not_matter(void **state)
{
    (void)state;
    float whole[1000], parts[1000];
    rng_truncated_normal(whole, 1000, 1, 2, 5, 1);
    for (int64_t at = 0, n = 1; at < 1000; at += n, n = n * 2 + 1) {
        if (n > 1000 - at) n = 1000 - at;
        rng_truncated_normal(parts + at, n, 1, 2, 5 + at, 1);
    }
    assert_memory_equal(whole, parts, sizeof whole);
}

static void seeds_and_streams_differ(void **state)
{
    (void)state;
    int equal = 0;
    for (uint64_t i = 0; i < 4096; i++) {
        const uint64_t x = rng_bits(0, 0, i);
        equal += x == rng_bits(1, 0, i) || x == rng_bits(0, 1, i) || x == rng_bits(0, 0, i + 1);
        equal += rng_bits(1, 0, i) == rng_bits(0, 1, i);
    }
    assert_int_equal(equal, 0);
}

/* Half of the bits change when any bit of the seed, the stream or the index does. */
static void one_bit_changes_half_of_them(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        double flipped = 0;
        for (int i = 0; i < 64 * 64; i++) {
            uint64_t key[3] = {(uint64_t)i * 977, (uint64_t)i * 31, (uint64_t)i};
            const uint64_t before = rng_bits(key[0], key[1], key[2]);
            key[which] ^= UINT64_C(1) << i % 64;
            flipped += __builtin_popcountll(before ^ rng_bits(key[0], key[1], key[2]));
        }
        assert_true(fabs(flipped / (64 * 64) - 32) < 0.5);
    }
}

static void uniform_is_uniform(void **state)
{
    (void)state;
    double sum = 0, squares = 0;
    int counts[10] = {0};
    for (uint64_t i = 0; i < N; i++) {
        const double u = rng_uniform(3, 4, i);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
        counts[rng_below(3, 5, i, 10)]++;
    }
    assert_true(fabs(sum / N - 0.5) < 4 * sqrt(1.0 / 12 / N));
    assert_true(fabs(squares / N - 1.0 / 3) < 4 * sqrt(4.0 / 45 / N));
    for (int i = 0; i < 10; i++) assert_true(fabs(counts[i] - N / 10.0) < 4 * sqrt(N * 0.09));
    assert_int_equal(rng_below(3, 5, 0, 1), 0);
    assert_true(rng_below(3, 5, 0, INT64_MAX) >= 0);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance, at the level that one seed in a thousand would exceed. */
static void normal_has_its_distribution(void **state)
{
    (void)state;
    float *x = malloc(N * sizeof *x);
    assert_non_null(x);
    rng_truncated_normal(x, N, 11, 0, 0, 1);
    qsort(x, N, sizeof *x, ascending);
    assert_true(x[0] >= -3 && x[0] < -2.99F && x[N - 1] <= 3 && x[N - 1] > 2.99F);
    const double tail = 0.5 * erfc(3 / M_SQRT2);
    double distance = 0;
    for (int i = 0; i < N; i++) {
        const double p = (0.5 * erfc(-(double)x[i] / M_SQRT2) - tail) / (1 - 2 * tail);
        distance = fmax(distance, fmax(p - (double)i / N, (i + 1.0) / N - p));
    }
    free(x);
    assert_true(distance < 1.95 / sqrt(N));
}

static void normal_has_its_moments(void **state)
{
    (void)state;
    const double std = 0.05;
    float *x = malloc(N * sizeof *x);
    assert_non_null(x);
    rng_truncated_normal(x, N, 5, 6, INT64_C(1) << 40, std);
    double moment[5] = {0};
    for (int i = 0; i < N; i++) {
        const double z = (double)x[i] / std;
        for (int k = 1; k <= 4; k++) moment[k] += pow(z, k) / N;
    }
    /* Of a normal distribution cut at 3: 1 - 6 f / (1 - 2 tail), and 3 m2 - 54 f / (1 - 2 tail). */
    const double f = exp(-4.5) / sqrt(2 * M_PI) / erf(3 / M_SQRT2);
    const double m2 = 1 - 6 * f, m4 = 3 * m2 - 54 * f;
    assert_true(fabs(moment[1]) < 4 / sqrt(N));
    assert_true(fabs(moment[2] - m2) < 4 * sqrt((m4 - m2 * m2) / N));
    assert_true(fabs(moment[3]) < 4 * 3.5 / sqrt(N));
    assert_true(fabs(moment[4] - m4) < 4 * 9 / sqrt(N));
    free(x);
}

typedef struct Part {
    float x[4096];
    int64_t first;
} Part;

static void *fill(void *part)
{
    rng_truncated_normal(((Part *)part)->x, 4096, 9, 9, ((Part *)part)->first, 1);
    return NULL;
}

static void threads_may_share(void **state)
{
    (void)state;
    static Part parts[4];
    static float whole[4 * 4096];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        parts[i].first = i * 4096;
        assert_int_equal(pthread_create(&threads[i], NULL, fill, &parts[i]), 0);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    rng_truncated_normal(whole, 4 * 4096, 9, 9, 0, 1);
    for (int i = 0; i < 4; i++) assert_memory_equal(whole + (size_t)i * 4096, parts[i].x, 4096 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_share),
        cmocka_unit_test(bits_are_the_same_everywhere),
        cmocka_unit_test(chunks_do_not_matter),
        cmocka_unit_test(seeds_and_streams_differ),
        cmocka_unit_test(one_bit_changes_half_of_them),
        cmocka_unit_test(uniform_is_uniform),
        cmocka_unit_test(normal_has_its_distribution),
        cmocka_unit_test(normal_has_its_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
