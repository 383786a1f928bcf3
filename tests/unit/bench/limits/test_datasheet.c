#include "bench/limits/datasheet.h"
#include "bench/limits/placement.h"
#include "bench/limits/roofline.h"
#include "config/config.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

/* A transposed pair of figures would be seen here. */
static void figures_are_sensible(void **state)
{
    (void)state;
    for (const Datasheet *s = datasheet_table; s->name; s++) {
        const double *r = s->rate, fp32 = r[LIMIT_FP32_LARGEST], wide = r[LIMIT_FP16_LARGEST];
        assert_in_range(s->capability, 60, 120);
        assert_in_range(s->multiprocessors, 20, 200);
        assert_in_range(s->memory_mib, 8 * 1000, 192 * 1024);
        assert_in_range(s->cache_mib, 0, 128);
        assert_true(s->watts >= 70 && s->watts <= 1000);
        assert_true(fp32 > 8e12 && fp32 <= wide && wide <= 2300e12);
        assert_true((r[LIMIT_BF16_LARGEST] > 0) == (s->capability >= 80));
        assert_true((r[LIMIT_TF32_LARGEST] > 0) == (s->capability >= 80));
        assert_true((r[LIMIT_FP8_LARGEST] > 0) == (s->capability >= 89));
        assert_true(r[LIMIT_READ] >= 250e9 && r[LIMIT_READ] <= 8e12);
        assert_true(strlen(s->source) > 5);
    }
}

/* Each by both of its names, and by no name of another. */
static void names(void **state)
{
    (void)state;
    const Datasheet *found;
    for (const Datasheet *s = datasheet_table; s->name; s++) {
        assert_int_equal(datasheet_named(s->name, &found), ST_OK);
        assert_ptr_equal(found, s);
        assert_int_equal(datasheet_named(s->gpu, &found), ST_OK);
        assert_ptr_equal(found, s);
    }
    assert_int_equal(datasheet_named("NVIDIA GeForce RTX 4090", &found), ST_OK);
    assert_string_equal(found->name, "rtx4090");
    assert_int_equal(datasheet_named("RTX-4090", &found), ST_OK);
    assert_string_equal(found->name, "rtx4090");
    assert_int_equal(datasheet_named("Tesla T4", &found), ST_OK);
    assert_string_equal(found->name, "t4");
}

static void no_such_name(void **state)
{
    (void)state;
    const Datasheet *found;
    char longest[4096];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(datasheet_named("h100", &found), ST_USAGE);
    assert_non_null(strstr(status_message(), "h100-pcie, h100-nvl, h100-sxm"));
    assert_int_equal(datasheet_named("rtx4091", &found), ST_USAGE);
    assert_non_null(strstr(status_message(), "did you mean rtx4090?"));
    assert_int_equal(datasheet_named("-", &found), ST_USAGE);
    assert_non_null(strstr(status_message(), "there is no data sheet of it; --gpu list"));
    assert_int_equal(datasheet_named(longest, &found), ST_USAGE);
}

/* What is made of it is a machine to plan for. */
static void limits_of_a_sheet(void **state)
{
    (void)state;
    const Datasheet *sheet;
    Limits limits;
    Config config;
    Placement placement;
    config_defaults(&config);
    assert_int_equal(datasheet_named("rtx3070", &sheet), ST_OK);
    datasheet_limits(sheet, &limits);
    assert_string_equal(limits_device_name(&limits).s, "NVIDIA GeForce RTX 3070");
    assert_true(limits.memory_bytes == (int64_t)8 << 30);
    assert_true(limits_peak_flops(&limits, PRECISION_BF16) == 40.6e12);
    assert_true(limits_peak_flops(&limits, PRECISION_FP8) == 0);
    assert_true(roofline_bandwidth(&limits) == 448e9);
    assert_true(datasheet_find(limits.key.gpu, LIMIT_READ) == 448e9);
    assert_int_equal(placement_on(&config, &limits, &placement), ST_OK);
    assert_int_equal(placement.backend, BACKEND_cuda);
    assert_int_equal(placement.capability, 86);
    config.precision = PRECISION_FP8;
    assert_int_equal(placement_on(&config, &limits, &placement), ST_UNSUPPORTED);
    snprintf(config.device, sizeof config.device, "cpu");
    assert_int_equal(placement_on(&config, &limits, &placement), ST_USAGE);
    assert_non_null(strstr(status_message(), "--gpu: the data sheet is of a GPU"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_sensible),
        cmocka_unit_test(names),
        cmocka_unit_test(no_such_name),
        cmocka_unit_test(limits_of_a_sheet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
