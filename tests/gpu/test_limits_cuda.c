/* Limits of a GPU: the kernels walk through all of the memory they count, and every figure is one that
 * this GPU could have. */
#include "backend/cuda_backend.h"
#include "bench/limits/datasheet.h"
#include "bench/limits/limits_gpu.h"
#include "bench/limits/limits_kernels_cuda.h"
#include "with_cmocka.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4 * LIMITS_KERNELS_UNIT, WORDS = BYTES / 4, LAST = 32 << 10 };

typedef struct Device {
    const BackendApi *api;
    Backend *be;
    void *to, *from;
    uint32_t *host;
} Device;

static Device open_device(void)
{
    Device d = {.api = backend_api(BACKEND_cuda), .host = malloc(BYTES)};
    assert_non_null(d.host);
    if (d.api->open(&d.be, 0) != ST_OK) fail_msg("%s", status_message());
    assert_int_equal(d.api->alloc(d.be, BYTES, &d.to), ST_OK);
    assert_int_equal(d.api->alloc(d.be, BYTES, &d.from), ST_OK);
    return d;
}

static void close_device(Device *d)
{
    d->api->release(d->be, d->to, BYTES);
    d->api->release(d->be, d->from, BYTES);
    d->api->close(d->be);
    free(d->host);
}

static void copy_and_write_reach_everything(void **state)
{
    (void)state;
    Device d = open_device();
    for (int way = 0; way < LIMITS_KERNELS_WAYS; way++) {
        for (uint32_t i = 0; i < WORDS; i++) d.host[i] = i * 2654435761U + (uint32_t)way;
        assert_int_equal(d.api->upload(d.be, d.from, d.host, BYTES), ST_OK);
        assert_int_equal(d.api->clear(d.be, d.to, BYTES), ST_OK);
        assert_int_equal(limits_kernels_walk(d.be, LIMITS_KERNEL_COPY, way, d.to, d.from, BYTES),
                         ST_OK);
        memset(d.host, 0, BYTES);
        assert_int_equal(d.api->download(d.be, d.host, d.to, BYTES), ST_OK);
        for (uint32_t i = 0; i < WORDS; i++) {
            if (d.host[i] != i * 2654435761U + (uint32_t)way) fail_msg("way %d, word %u", way, i);
        }
        assert_int_equal(limits_kernels_walk(d.be, LIMITS_KERNEL_WRITE, way, d.to, NULL, BYTES),
                         ST_OK);
        assert_int_equal(d.api->download(d.be, d.host, d.to, BYTES), ST_OK);
        for (uint32_t i = 0; i < WORDS; i++) {
            if (d.host[i] != 1) fail_msg("way %d, word %u is not written", way, i);
        }
    }
    close_device(&d);
}

/* The number that makes a reader speak, in nothing but the last thread's part. */
static void read_reaches_the_end(void **state)
{
    (void)state;
    Device d = open_device();
    for (int way = 0; way < LIMITS_KERNELS_WAYS; way++) {
        uint32_t seen = 0;
        for (uint32_t i = 0; i < WORDS; i++) d.host[i] = i >= (BYTES - LAST) / 4 ? 0x9e3779b9U : 0;
        assert_int_equal(d.api->upload(d.be, d.from, d.host, BYTES), ST_OK);
        assert_int_equal(d.api->clear(d.be, d.to, BYTES), ST_OK);
        assert_int_equal(limits_kernels_walk(d.be, LIMITS_KERNEL_READ, way, d.to, d.from, BYTES),
                         ST_OK);
        assert_int_equal(d.api->download(d.be, &seen, d.to, sizeof seen), ST_OK);
        assert_int_equal(seen, 0x9e3779b9U);
        assert_int_equal(d.api->clear(d.be, d.from, BYTES), ST_OK);
        assert_int_equal(d.api->clear(d.be, d.to, BYTES), ST_OK);
        assert_int_equal(limits_kernels_walk(d.be, LIMITS_KERNEL_READ, way, d.to, d.from, BYTES),
                         ST_OK);
        assert_int_equal(d.api->download(d.be, &seen, d.to, sizeof seen), ST_OK);
        assert_int_equal(seen, 0);
    }
    close_device(&d);
}

/* Data sheets are for a clock that a cool GPU passes; memory has no such freedom. */
static double most(LimitId id, double promised)
{
    return promised * (limits_names[id].kind == LIMITS_MEMORY ? 1.02 : 1.15);
}

static void check_rate(const Limits *limits, LimitId id)
{
    const LimitsRate *r = &limits->rate[id][LIMITS_ALL];
    const double promised = datasheet_find(limits->key.gpu, id);
    printf("%-20s median %.4g min %.4g max %.4g n %d data sheet %.4g %s\n", limits_names[id].name,
           r->median, r->min, r->max, r->n, promised, limits_unit(id));
    if (r->n == 0) return; /* older GPUs have no bf16 and tf32 */
    assert_true(r->min > 0 && r->min <= r->median && r->median <= r->max);
    if (promised > 0 && r->max > most(id, promised)) {
        fail_msg("%s: %g is more than this GPU can do", limits_names[id].name, r->max);
    }
}

static void figures(void **state)
{
    (void)state;
    Limits limits;
    if (limits_gpu_measure(0, &limits) != ST_OK) fail_msg("%s", status_message());
    printf("%s, %d multiprocessors, %s, %.1f s, others %.0f %%, slowed by: %s\n", limits.key.gpu,
           limits.key.multiprocessors, limits.key.blas, limits.seconds, 100 * limits.others,
           limits.throttled);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (limits_has(&limits.key, (LimitId)i)) check_rate(&limits, (LimitId)i);
    }
    static const LimitId everywhere[] = {
        LIMIT_FP32_LARGEST, LIMIT_FP16_WEIGHT_GRAD, LIMIT_READ,    LIMIT_WRITE,
        LIMIT_COPY,         LIMIT_TO_DEVICE,        LIMIT_TO_HOST, LIMIT_LAUNCH_LATENCY,
        LIMIT_LAUNCHES,     LIMIT_GRAPH_LAUNCHES};
    for (size_t i = 0; i < sizeof everywhere / sizeof *everywhere; i++) {
        assert_true(limits.rate[everywhere[i]][LIMITS_ALL].n > 1);
    }
    assert_int_equal(limits.rate[LIMIT_TRIAD][LIMITS_ALL].n, 0);
    assert_true(limits.cache_bytes >= 1 << 20 && limits.cache_bytes < 1 << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_and_write_reach_everything),
        cmocka_unit_test(read_reaches_the_end),
        cmocka_unit_test(figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
