/* Limits: small measurements give sane rates; what is stored comes back, and rubbish does not. */
#include "backend/cpu_info.h"
#include "base/text.h"
#include "bench/limits/caches_cpu.h"
#include "bench/limits/datasheet.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/limits_cpu.h"
#include "bench/limits/limits_json.h"
#include "bench/limits/limits_links.h"
#include "bench/limits/limits_matmul.h"
#include "own_cache.h"
#include "version.h"
#include "with_cmocka.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_rate(const LimitsRate *r, int n)
{
    assert_int_equal(r->n, n);
    assert_true(r->min > 0 && r->min <= r->median && r->median <= r->max);
}

static void memory_rates(void **state)
{
    (void)state;
    Limits limits = {0};
    size_t bytes = 0;
    assert_int_equal(limits_cpu_memory_bytes(&bytes), ST_OK);
    assert_true(bytes >= 4096);
    assert_int_equal(limits_cpu_memory(2, (1 << 20) + 8, 3, LIMITS_ALL, &limits), ST_OK);
    assert_rate(&limits.rate[LIMIT_READ][LIMITS_ALL], 3);
    assert_rate(&limits.rate[LIMIT_WRITE][LIMITS_ALL], 3);
    assert_rate(&limits.rate[LIMIT_COPY][LIMITS_ALL], 3);
    assert_rate(&limits.rate[LIMIT_UPDATE][LIMITS_ALL], 3);
    assert_rate(&limits.rate[LIMIT_TRIAD][LIMITS_ALL], 3);
    assert_int_equal(limits.rate[LIMIT_READ][LIMITS_ONE].n, 0);
}

/* Every level that this machine tells of and that is larger than two of the one before. */
static void cache_rates(void **state)
{
    (void)state;
    Limits limits = {0};
    CpuInfo cpu;
    assert_int_equal(cpu_info_read(&cpu, ""), ST_OK);
    assert_int_equal(caches_cpu_measure(2, 3, LIMITS_ALL, &limits), ST_OK);
    if (cpu.l1d > 8192) assert_rate(&limits.rate[LIMIT_L1_READ][LIMITS_ALL], 3);
    assert_int_equal(limits.rate[LIMIT_L2_READ][LIMITS_ALL].n, cpu.l2 / 2 > cpu.l1d ? 3 : 0);
    assert_int_equal(limits.rate[LIMIT_L1_READ][LIMITS_ONE].n, 0);
    assert_int_equal(limits_shows(&limits, LIMIT_L1_READ), cpu.l1d > 8192);
    limits.rate[LIMIT_L1_READ][LIMITS_ALL].n = 0; /* as a file from before there were any says */
    assert_false(limits_shows(&limits, LIMIT_L1_READ));
    assert_true(limits_shows(&limits, LIMIT_COPY));
}

static void product_rates(void **state)
{
    (void)state;
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16,
                                           PRECISION_FP8};
    const LimitsBudget tiny = {.large = 1e-9, .model = 1e-9, .repeats = 2};
    const Placement one = {.backend = BACKEND_cpu, .threads = 1};
    const Placement two = {.backend = BACKEND_cpu, .threads = 2};
    Config model;
    config_defaults(&model);
    model.model.d_model = 48; /* small: the sanitizers make products of a real one take minutes */
    model.model.d_ff = 96;
    model.model.num_layers = model.model.num_heads = 1;
    model.model.vocab = 101;
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
        LimitsRate large;
        Limits limits = {0};
        const int row = (int)limits_largest(precisions[i]);
        assert_int_equal(limits_matmul_large(&one, precisions[i], &tiny, &large), ST_OK);
        assert_rate(&large, 2);
        assert_int_equal(
            limits_matmul_rows(&two, &model, precisions[i], &tiny, LIMITS_ONE, &limits), ST_OK);
        for (int p = 0; p <= LIMITS_PASSES; p++) {
            assert_rate(&limits.rate[row + p][LIMITS_ONE], 2);
            assert_int_equal(limits.rate[row + p][LIMITS_ALL].n, 0);
        }
    }
    LimitsRate library;
    assert_int_equal(limits_matmul_library(&two, &tiny, &library), ST_OK);
    assert_rate(&library, 2);
}

static Limits made_up(void)
{
    Limits limits = {.steal = 0.25, .seconds = 9.5, .time_utc = "2024-05-01T12:34:56Z"};
    assert_int_equal(limits_key(0, &limits.key), ST_OK);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const double rate = 1e9 * (i + 1);
        limits.rate[i][LIMITS_ALL] = (LimitsRate){2 * rate, rate, 3 * rate, 7};
    }
    return limits;
}

static void stored_and_loaded(void **state)
{
    (void)state;
    Limits limits = made_up(), back;
    assert_false(limits_cache_load(&limits.key, &back));
    assert_int_equal(limits_cache_store(&limits), ST_OK);
    assert_true(limits_cache_load(&limits.key, &back));
    assert_true(back.stored);
    assert_string_equal(back.key.blas, limits.key.blas);
    assert_string_equal(back.time_utc, limits.time_utc);
    assert_true(back.rate[LIMIT_COPY][LIMITS_ALL].max == limits.rate[LIMIT_COPY][LIMITS_ALL].max);
    assert_int_equal(back.rate[LIMIT_COPY][LIMITS_ONE].n, 0);
    assert_true(limits_was_busy(&back));
    /* The largest of the precision's rows, whatever the row. */
    /* The library's product counts, too: here it is the fastest. */
    assert_true(limits_peak_flops(&back, PRECISION_FP32) == 3e9 * (LIMIT_FP32_LIBRARY + 1));
    assert_true(limits_peak_flops(&back, PRECISION_FP16) == 3e9 * (LIMIT_FP16_WEIGHT_GRAD + 1));
    assert_true(limits_peak_flops(&back, PRECISION_TF32) == 0);
    limits.key.threads++; /* another machine's figures are not taken */
    assert_false(limits_cache_load(&limits.key, &back));
}

/* A file that `limits` wrote has the links, too: each is found by its own key. */
static void stored_with_links(void **state)
{
    (void)state;
    Limits limits = made_up(), back;
    const LimitsKey without = limits.key;
    const LimitId link = comm_link_bandwidth(0, COLLECTIVE_ALL_REDUCE);
    snprintf(limits.key.mpi, sizeof limits.key.mpi, "some MPI");
    assert_int_equal(limits_links_store_both(&limits), ST_OK);
    assert_true(limits_cache_load(&without, &back));
    assert_true(back.rate[LIMIT_COPY][LIMITS_ALL].max == limits.rate[LIMIT_COPY][LIMITS_ALL].max);
    assert_int_equal(back.rate[link][LIMITS_ALL].n, 0);
    assert_true(limits_cache_load(&limits.key, &back));
    assert_true(back.rate[link][LIMITS_ALL].max == limits.rate[link][LIMITS_ALL].max);
}

/* After a pull that makes products faster the old roof is none. */
static void other_kernels_are_measured_anew(void **state)
{
    (void)state;
    Limits limits = made_up(), back;
    snprintf(limits.kernels, sizeof limits.kernels, "0123456789ab");
    assert_int_equal(limits_cache_store(&limits), ST_OK);
    assert_false(limits_cache_load(&limits.key, &back));
    limits.kernels[0] = '\0'; /* as this program measures them */
    assert_int_equal(limits_cache_store(&limits), ST_OK);
    assert_true(limits_cache_load(&limits.key, &back));
    assert_string_equal(back.kernels, ROOFSTEP_KERNELS);
}

static Limits made_up_gpu(void)
{
    Limits limits = {.others = 0.5, .throttled = "power limit", .time_utc = "2024-05-01T12:34:56Z"};
    limits.key = (LimitsKey){.gpu = "NVIDIA H200", .multiprocessors = 132, .cpu = "a host"};
    snprintf(limits.key.blas, sizeof limits.key.blas, "cuBLASLt 13.1.1");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (limits_has(&limits.key, (LimitId)i)) {
            limits.rate[i][LIMITS_ALL] = (LimitsRate){2e12, 1e12, 3e12, 7};
        }
    }
    return limits;
}

static void gpu_is_stored_apart(void **state)
{
    (void)state;
    Limits limits = made_up_gpu(), back;
    assert_int_equal(limits_cache_store(&limits), ST_OK);
    assert_true(limits_cache_load(&limits.key, &back));
    assert_string_equal(back.key.gpu, "NVIDIA H200");
    assert_int_equal(back.key.multiprocessors, 132);
    assert_string_equal(back.throttled, "power limit");
    assert_true(limits_was_busy(&back));
    assert_true(limits_peak_flops(&back, PRECISION_TF32) == 3e12);
    assert_true(back.rate[LIMIT_LAUNCH_LATENCY][LIMITS_ALL].median == 2e12);
    assert_int_equal(back.rate[LIMIT_TRIAD][LIMITS_ALL].n, 0);
    limits.key.multiprocessors--; /* a slice of it is another GPU */
    assert_false(limits_cache_load(&limits.key, &back));
    assert_int_equal(limits_key(0, &limits.key), ST_OK); /* and so is the CPU */
    assert_false(limits_cache_load(&limits.key, &back));
}

static void data_sheets(void **state)
{
    (void)state;
    assert_true(datasheet_find("NVIDIA H200", LIMIT_BF16_LARGEST) == 989e12);
    assert_true(datasheet_find("NVIDIA H200", LIMIT_FP8_LARGEST) == 1979e12);
    assert_true(datasheet_find("NVIDIA H200", LIMIT_COPY) == 4800e9);
    assert_true(datasheet_find("NVIDIA H200", LIMIT_BF16_FORWARD) == 0);
    assert_true(datasheet_find("NVIDIA H200 NVL", LIMIT_BF16_LARGEST) == 835e12);
    assert_true(datasheet_find("Tesla T4", LIMIT_FP16_LARGEST) == 65e12);
    assert_true(datasheet_find("Tesla T4", LIMIT_BF16_LARGEST) == 0);
    assert_true(datasheet_find("NVIDIA A100-SXM4-40GB MIG 1g.5gb", LIMIT_FP32_LARGEST) == 0);
    assert_true(datasheet_find("", LIMIT_FP32_LARGEST) == 0);
    const Limits limits = made_up_gpu();
    json_t *json = NULL;
    assert_int_equal(limits_json_encode(&json, &limits), ST_OK);
    const json_t *rows = json_object_get(json, "limits");
    assert_true(json_real_value(
                    json_object_get(json_object_get(rows, "memory_read"), "datasheet")) == 4800e9);
    assert_null(json_object_get(json_object_get(rows, "memory_read"), "one_core"));
    assert_null(json_object_get(rows, "memory_triad"));
    json_decref(json);
}

static void get_takes_what_is_stored(void **state)
{
    (void)state;
    const Limits limits = made_up();
    Limits back;
    assert_int_equal(limits_cache_store(&limits), ST_OK);
    Config config;
    config_defaults(&config);
    snprintf(config.device, sizeof config.device, "cpu");
    assert_int_equal(limits_cache_get(&config, false, false, &back), ST_OK);
    assert_true(back.stored && back.seconds == 9.5);
}

static void spoil(const char *text)
{
    char folder[128], path[512];
    snprintf(folder, sizeof folder, "%s/roofstep", own_cache);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        assert_int_equal(text_write_file(path, text, strlen(text)), ST_OK);
    }
    closedir(dir);
}

static void rubbish_is_ignored(void **state)
{
    (void)state;
    static const char *const rubbish[] = {
        "", "{", "[]", "{}", "null", "{\"schema\": 1}", "{\"schema\": \"1\"}", "\xff\xfe"};
    Limits limits = made_up(), back;
    assert_int_equal(limits_cache_store(&limits), ST_OK);
    for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
        spoil(rubbish[i]);
        assert_false(limits_cache_load(&limits.key, &back));
    }
    limits.rate[LIMIT_READ][LIMITS_ALL].min = -1; /* no rate */
    assert_int_equal(limits_cache_store(&limits), ST_OK);
    assert_false(limits_cache_load(&limits.key, &back));
}

static void nowhere_to_store(void **state)
{
    (void)state;
    const Limits limits = made_up();
    setenv("XDG_CACHE_HOME", "/proc/nonexistent", 1);
    assert_int_equal(limits_cache_store(&limits), ST_IO);
    unsetenv("XDG_CACHE_HOME");
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("HOME");
    assert_int_equal(limits_cache_store(&limits), ST_IO);
    if (home) setenv("HOME", home, 1);
    free(home);
}

int main(void)
{
#define WITH_CACHE(f) cmocka_unit_test_setup_teardown(f, own_cache_make, own_cache_drop)
    /* What stores comes first: measuring starts threads, after which nothing may fork. */
    const struct CMUnitTest tests[] = {
        WITH_CACHE(stored_and_loaded),   WITH_CACHE(get_takes_what_is_stored),
        WITH_CACHE(stored_with_links),   WITH_CACHE(other_kernels_are_measured_anew),
        WITH_CACHE(gpu_is_stored_apart), cmocka_unit_test(data_sheets),
        WITH_CACHE(rubbish_is_ignored),  WITH_CACHE(nowhere_to_store),
        cmocka_unit_test(memory_rates),  cmocka_unit_test(cache_rates),
        cmocka_unit_test(product_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
