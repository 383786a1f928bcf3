/* Ranks are threads here; ranks that are processes: tests/ranks. */
#include "base/float16.h"
#include "base/rng.h"
#include "comm/shard_pieces.h"
#include "comm/shared_array.h"
#include "with_cmocka.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5, SEGMENT = 192, LONGEST = 1000 };
static const int64_t counts[] = {0, 1, 2, 31, 32, 33, 97, 96 * 3, 96 * 3 + 1, 997, LONGEST};
enum { N_COUNTS = sizeof counts / sizeof *counts };

/* ---- shards ---- */

static void test_shards_cover_everything_once(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 9; ranks++) {
        for (int64_t count = 0; count < 700; count++) {
            int64_t next = 0;
            for (int r = 0; r < ranks; r++) {
                const Shard shard = shard_of(count, ranks, r);
                assert_true(shard.first == next && shard.count >= 0);
                assert_true(shard.first % 32 == 0 || shard.count == 0);
                next += shard.count;
            }
            assert_int_equal(next, count);
        }
    }
}

static void test_chunks_cover_a_shard_once(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 700; count += 7) {
        const ShardedArray array = {count, 2, SEGMENT, 3};
        for (int r = 0; r < 3; r++) {
            const Shard shard = shard_of(count, 3, r);
            size_t done = 0;
            for (int64_t k = 0; k < shard_chunks(&array) + 2; k++) {
                const ShardPiece piece = shard_piece(&array, r, k);
                assert_true(piece.bytes <= SEGMENT && piece.bytes == 2 * (size_t)piece.count);
                assert_int_equal(piece.in_shard, done);
                assert_int_equal(piece.at, 2 * (size_t)shard.first + done);
                done += piece.bytes;
            }
            assert_int_equal(done, 2 * shard.count);
        }
    }
}

/* ---- collectives ---- */

static char *windows[MOST];
static SharedArray seen = {.bytes = (LONGEST + 2) * sizeof(float)};
static pthread_barrier_t all_begun;

typedef struct Rank {
    SharedWindow w;
    int wrong;
    pthread_t thread;
} Rank;

/* Numbers whose sum depends on the order. Each is rounded before it is added, wherever this is inlined. */
static float number(int rank, int64_t i)
{
    const float x = (float)rng_below(7, (uint64_t)rank, (uint64_t)i, 1 << 20) / 1000.0f - 500;
    const volatile float y = i % 5 == 0 ? x * 1e6f : x;
    return y;
}

static void fill(int rank, void *data, int64_t count, DType dtype)
{
    for (int64_t i = 0; i < count; i++) {
        if (dtype == DT_BF16)
            ((uint16_t *)data)[i] = float16_to_bf16(number(rank, i));
        else
            ((float *)data)[i] = number(rank, i);
    }
}

static float rounded(float x, DType dtype)
{
    return dtype == DT_BF16 ? float16_from_bf16(float16_to_bf16(x)) : x;
}

/* In the order of ranks, rounded once. */
static float sum_of(int ranks, int64_t i, DType dtype)
{
    float sum = rounded(number(0, i), dtype);
    for (int r = 1; r < ranks; r++) sum += rounded(number(r, i), dtype);
    return rounded(sum, dtype);
}

static float get(const void *data, int64_t i, DType dtype)
{
    return dtype == DT_BF16 ? float16_from_bf16(((const uint16_t *)data)[i])
                            : ((const float *)data)[i];
}

static void expect_sums(Rank *rank, const void *data, int64_t first, int64_t n, DType dtype)
{
    for (int64_t i = 0; i < n; i++)
        rank->wrong += get(data, i, dtype) != sum_of(rank->w.ranks, first + i, dtype);
}

/* Every collective on one array, the results of some of them being what the next ones begin with. */
static void try_array(Rank *rank, int64_t count, DType dtype)
{
    float in[LONGEST], out[LONGEST], shards[LONGEST];
    SharedWindow *w = &rank->w;
    const size_t bytes = (size_t)count * plan_dtype_size(dtype);
    const Shard own = shard_of(count, w->ranks, w->rank);
    fill(w->rank, in, count, dtype);
    memset(out, 0x55, sizeof out);
    shared_window_reduce_scatter(w, in, shards, count, dtype, 1);
    expect_sums(rank, shards, own.first, own.count, dtype);
    shared_window_all_gather(w, shards, out, count, dtype);
    expect_sums(rank, out, 0, count, dtype);
    shared_window_all_reduce(w, in, in, count, dtype, 1); /* in place */
    rank->wrong += memcmp(in, out, bytes) != 0;
    memset(out, w->rank, sizeof out);
    shared_window_broadcast(w, out, bytes, w->ranks - 1);
    for (size_t i = 0; i < bytes; i++) rank->wrong += ((char *)out)[i] != w->ranks - 1;
    fill(w->rank, in, count, dtype);
    shared_window_all_reduce(w, in, out, count, dtype, 1);
    expect_sums(rank, out, 0, count, dtype);
}

/* The same in arrays that all see, with the shards in place and elsewhere. */
static void try_shared(Rank *rank, int64_t count, DType dtype)
{
    SharedWindow *w = &rank->w;
    const SharedArray *a = &seen;
    const size_t size = plan_dtype_size(dtype), bytes = (size_t)count * size;
    char *data = a->base[w->rank] + 2 * size;
    const Shard own = shard_of(count, w->ranks, w->rank);
    char *place = data + (size_t)own.first * size;
    float shards[LONGEST];
    fill(w->rank, data, count, dtype);
    shared_array_reduce_scatter(w, a, data, place, count, dtype, 1);
    expect_sums(rank, place, own.first, own.count, dtype);
    shared_array_all_gather(w, a, place, data, count, dtype);
    expect_sums(rank, data, 0, count, dtype);
    fill(w->rank, data, count, dtype);
    shared_array_reduce_scatter(w, a, data, shards, count, dtype, 1);
    expect_sums(rank, shards, own.first, own.count, dtype);
    memset(data, 0x55, bytes);
    shared_array_all_gather(w, a, shards, data, count, dtype);
    expect_sums(rank, data, 0, count, dtype);
    fill(w->rank, data, count, dtype);
    shared_array_all_reduce(w, a, data, count, dtype, 1);
    expect_sums(rank, data, 0, count, dtype);
    memset(data, w->rank, bytes);
    shared_array_broadcast(w, a, data, bytes, w->ranks - 1);
    for (size_t i = 0; i < bytes; i++) rank->wrong += data[i] != w->ranks - 1;
}

static void test_what_is_in_an_array(void **state)
{
    (void)state;
    static char memory[80];
    char *bytes = memory + 8;
    const SharedArray a = {.base = {NULL, bytes}, .bytes = 64};
    assert_true(shared_array_has(&a, 1, bytes, 64));
    assert_true(shared_array_has(&a, 1, bytes + 60, 4));
    assert_true(shared_array_has(&a, 1, bytes + 64, 0));
    assert_false(shared_array_has(&a, 1, bytes + 60, 5));
    assert_false(shared_array_has(&a, 1, bytes - 1, 1));
    assert_false(shared_array_has(&a, 0, bytes, 1));
}

static void *run_rank(void *arg)
{
    Rank *rank = arg;
    shared_window_init(&rank->w);
    pthread_barrier_wait(&all_begun);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N_COUNTS; i++) {
            try_array(rank, counts[i], DT_F32);
            try_array(rank, counts[N_COUNTS - 1 - i], DT_BF16);
            try_shared(rank, counts[i], DT_BF16);
            try_shared(rank, counts[N_COUNTS - 1 - i], DT_F32);
        }
    }
    return NULL;
}

static void test_collectives(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= MOST; ranks++) {
        Rank list[MOST] = {0};
        pthread_barrier_init(&all_begun, NULL, (unsigned)ranks);
        for (int r = 0; r < ranks; r++) {
            windows[r] = aligned_alloc(64, (shared_window_bytes(ranks, SEGMENT) + 63) / 64 * 64);
            seen.base[r] = malloc(seen.bytes);
        }
        for (int r = 0; r < ranks; r++) {
            list[r].w =
                (SharedWindow){.rank = r, .ranks = ranks, .segment = SEGMENT, .yields = ranks > 2};
            memcpy(list[r].w.base, windows, sizeof windows);
            assert_int_equal(pthread_create(&list[r].thread, NULL, run_rank, &list[r]), 0);
        }
        for (int r = 0; r < ranks; r++) {
            pthread_join(list[r].thread, NULL);
            assert_int_equal(list[r].wrong, 0);
        }
        for (int r = 0; r < ranks; r++) {
            free(windows[r]);
            free(seen.base[r]);
        }
        pthread_barrier_destroy(&all_begun);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards_cover_everything_once),
        cmocka_unit_test(test_chunks_cover_a_shard_once),
        cmocka_unit_test(test_what_is_in_an_array),
        cmocka_unit_test(test_collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
