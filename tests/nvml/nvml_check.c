/* NVML through a library of our own: usage nvml_check FAKE_NVML.so */
#include "backend/nvml_info.h"
#include "bench/cell/cell_record.h"
#include "bench/measure/gpu_watch.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *library;

static void choose(const char *path, const char *letters, const char *visible)
{
    setenv("ROOFSTEP_NVML", path, 1);
    setenv("FAKE_NVML", letters, 1);
    if (visible) {
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    } else {
        unsetenv("CUDA_VISIBLE_DEVICES");
    }
}

static bool opens(const char *which)
{
    NvmlInfo *gpu = nvml_info_open(which);
    nvml_info_close(gpu);
    return gpu != NULL;
}

static void absence_is_no_error(void **state)
{
    (void)state;
    choose("/nowhere/libnvidia-ml.so.1", "", NULL);
    assert_false(opens("1"));
    choose("libz.so.1", "", NULL); /* a library that is another one */
    assert_false(opens("1"));
    choose(library, "i", NULL);
    assert_false(opens("1"));
}

static void gpus_have_three_names(void **state)
{
    (void)state;
    choose(library, "", NULL);
    assert_true(opens("1") && opens("0000:1B:00.0") && opens("GPU-fake"));
    assert_false(opens("0") || opens("0000:1C:00.0") || opens("GPU-other") || opens("MIG-x"));
    assert_false(opens("") || opens(NULL)); /* the first is number 0 */
    choose(library, "", "1,0");
    assert_true(opens(NULL));
    choose(library, "", "GPU-fake");
    assert_true(opens(NULL));
    choose(library, "", "");
    assert_false(opens(NULL));
    choose(library, "", "-1");
    assert_false(opens(NULL));
}

static void readings(void **state)
{
    (void)state;
    choose(library, "p", NULL);
    NvmlInfo *gpu = nvml_info_open("1");
    assert_non_null(gpu);
    NvmlReading r;
    nvml_info_read(gpu, &r);
    assert_string_equal(r.name, "Fake H200");
    assert_string_equal(r.driver, "580.65.06");
    assert_string_equal(r.cuda, "13.0");
    assert_string_equal(r.bus_id, "00000000:1B:00.0");
    assert_int_equal(r.sm_mhz, 1755);
    assert_int_equal(r.sm_max_mhz, 1980);
    assert_int_equal(r.memory_mhz, 3201);
    assert_true(fabs(r.watts - 612.5) < 1e-9 && isnan(r.limit_watts) &&
                fabs(r.celsius - 54) < 1e-9);
    assert_int_equal(r.memory_total, 150754820096LL);
    assert_int_equal(r.memory_used, 1073741824LL);
    assert_int_equal(r.throttle, 0x25);
    assert_int_equal(nvml_info_throttled(gpu), 0x24);
    double first = 0, second = 0;
    assert_true(nvml_info_energy(gpu, &first) && nvml_info_energy(gpu, &second));
    assert_true(fabs(second - first - 5) < 1e-9);
    nvml_info_close(gpu);
}

static void use_by_anybody(void **state)
{
    (void)state;
    double share = 0;
    choose(library, "p", NULL);
    NvmlInfo *gpu = nvml_info_open("1");
    assert_true(nvml_info_utilization(gpu, &share) && fabs(share - 0.75) < 1e-9);
    nvml_info_close(gpu);
}

static void memory_of_every_gpu(void **state)
{
    (void)state;
    NvmlMemoryUsed taken[4];
    choose(library, "", "");
    assert_int_equal(nvml_info_memory_used(taken, 4), 1);
    assert_string_equal(taken[0].bus_id, "00000000:1B:00.0");
    assert_int_equal(taken[0].bytes, 1073741824LL);
    assert_int_equal(nvml_info_memory_used(taken, 0), 0);
    choose(library, "i", NULL);
    assert_int_equal(nvml_info_memory_used(taken, 4), 0);
    choose("/nowhere", "", NULL);
    assert_int_equal(nvml_info_memory_used(taken, 4), 0);
}

static void reasons_for_people(void **state)
{
    (void)state;
    uint64_t reasons = 0x1 | 0x2 | 0x4 | 0x40;
    assert_string_equal(nvml_info_next_reason(&reasons), "power limit");
    assert_string_equal(nvml_info_next_reason(&reasons), "heat (hardware)");
    assert_null(nvml_info_next_reason(&reasons));
    assert_int_equal(reasons, 0x3);
}

/* What a cell with 4 steps of 10 tokens tells of the fake GPU: its record, to be freed. */
static Record *watched(const char *letters, useconds_t pause)
{
    int ends[2];
    char text[4096];
    CellLink link;
    CellRecord cell;
    Config config;
    choose(library, letters, NULL);
    GpuWatch watch = {.gpu = nvml_info_open("1")};
    assert_non_null(watch.gpu);
    assert_int_equal(pipe(ends), 0);
    cell_link_open(&link, ends[1]);
    gpu_watch_start(&watch);
    for (int i = 0; i < 4; i++) {
        usleep(pause);
        gpu_watch_step(&watch);
    }
    assert_int_equal(gpu_watch_tell(&watch, &link, 10), ST_OK);
    gpu_watch_close(&watch);
    cell_link_close(&link);
    close(ends[1]);
    const ssize_t n = read(ends[0], text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = '\0';
    close(ends[0]);
    config_defaults(&config);
    assert_int_equal(cell_record_begin(&cell, &config, NULL), ST_OK);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cell_record_take(&cell, line, strlen(line));
    }
    assert_string_equal(cell.garbled, "");
    Record *record = json_incref(cell.record);
    cell_record_free(&cell);
    return record;
}

static void energy_per_token(void **state)
{
    (void)state;
    double joules = 0;
    Record *r = watched("", 60000);
    assert_true(record_number(r, "joules_per_token", &joules));
    assert_true(fabs(joules - 5.0 / 40) < 1e-9);
    assert_true(json_is_array(record_value(r, "throttled")));
    assert_int_equal(json_array_size(record_value(r, "throttled")), 0);
    assert_null(record_value(r, "warnings"));
    json_decref(r);

    r = watched("", 0); /* too short for the counter */
    assert_null(record_value(r, "joules_per_token"));
    json_decref(r);
    r = watched("e", 60000); /* no counter */
    assert_null(record_value(r, "joules_per_token"));
    json_decref(r);
}

static void a_slow_gpu_is_told_of(void **state)
{
    (void)state;
    Record *r = watched("p", 60000);
    const json_t *throttled = record_value(r, "throttled"), *warnings = record_value(r, "warnings");
    assert_int_equal(json_array_size(throttled), 2);
    assert_string_equal(json_string_value(json_array_get(throttled, 0)), "power limit");
    assert_int_equal(json_array_size(warnings), 1);
    const char *warning = json_string_value(json_array_get(warnings, 0));
    if (!strstr(warning, "(power limit, heat (driver))")) fail_msg("%s", warning);
    json_decref(r);
}

static void no_gpu_no_words(void **state)
{
    (void)state;
    GpuWatch watch;
    CellLink link = {.fd = -1};
    choose("/nowhere", "", NULL);
    gpu_watch_open(&watch, 0);
    gpu_watch_start(&watch);
    gpu_watch_step(&watch);
    assert_int_equal(gpu_watch_tell(&watch, &link, 10), ST_OK);
    gpu_watch_close(&watch);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absence_is_no_error),
        cmocka_unit_test(gpus_have_three_names),
        cmocka_unit_test(readings),
        cmocka_unit_test(use_by_anybody),
        cmocka_unit_test(memory_of_every_gpu),
        cmocka_unit_test(reasons_for_people),
        cmocka_unit_test(energy_per_token),
        cmocka_unit_test(a_slow_gpu_is_told_of),
        cmocka_unit_test(no_gpu_no_words),
    };
    if (argc != 2) return 2;
    library = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
