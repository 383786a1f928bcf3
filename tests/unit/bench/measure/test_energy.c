/* Counters of machines that are not here, as a directory with their /sys. */
#include "bench/measure/energy.h"
#include "made_up_machine.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void put_in(const char *class, const char *device, const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "/sys/class/%s/%s/%s", class, device, name);
    put(path, text);
}

static void put_zone(const char *zone, const char *name, const char *joules, const char *range)
{
    put_in("powercap", zone, "name", name);
    put_in("powercap", zone, "energy_uj", joules);
    if (range) put_in("powercap", zone, "max_energy_range_uj", range);
}

static double joules_between(const CpuEnergy *energy, CpuEnergyReading *before)
{
    CpuEnergyReading now;
    assert_true(cpu_energy_read(energy, &now));
    const double joules = cpu_energy_between(energy, before, &now);
    *before = now;
    return joules;
}

static void near(double x, double y)
{
    if (fabs(x - y) > 1e-9 * fabs(y) + 1e-12) fail_msg("%.12g is not %.12g", x, y);
}

/* Two packages and the memory of one; cores and the platform would be counted twice. */
static void packages_and_memory(void **state)
{
    (void)state;
    CpuEnergy energy;
    CpuEnergyReading before;
    put_zone("intel-rapl:0", "package-0\n", "1000000\n", "9000000\n");
    put_zone("intel-rapl:0:0", "core\n", "5\n", "9000000\n");
    put_zone("intel-rapl:0:1", "dram\n", "100\n", "9000000\n");
    put_zone("intel-rapl:1", "package-1\n", "8000000\n", "9000000\n");
    put_zone("intel-rapl:2", "psys\n", "7\n", "9000000\n");
    assert_true(cpu_energy_open(&energy, machine));
    assert_int_equal(energy.n, 3);
    assert_true(cpu_energy_read(&energy, &before));
    put_zone("intel-rapl:0", "package-0\n", "3000000\n", NULL);
    put_zone("intel-rapl:0:0", "core\n", "4000000\n", NULL);
    put_zone("intel-rapl:0:1", "dram\n", "500100\n", NULL);
    near(joules_between(&energy, &before), 2.5);
    put_zone("intel-rapl:1", "package-1\n", "1000000\n", NULL); /* begins again after 9 J */
    near(joules_between(&energy, &before), 2);
    put_zone("intel-rapl:0", "package-0\n", "none\n", NULL);
    assert_false(cpu_energy_read(&energy, &before));
}

static void sockets_of_hwmon(void **state)
{
    (void)state;
    CpuEnergy energy;
    CpuEnergyReading before;
    put_in("hwmon", "hwmon0", "temp1_label", "Tctl\n");
    put_in("hwmon", "hwmon1", "energy1_label", "Ecore000\n");
    put_in("hwmon", "hwmon1", "energy1_input", "1\n");
    put_in("hwmon", "hwmon1", "energy2_label", "Esocket0\n");
    put_in("hwmon", "hwmon1", "energy2_input", "2000000\n");
    assert_true(cpu_energy_open(&energy, machine));
    assert_int_equal(energy.n, 1);
    assert_true(cpu_energy_read(&energy, &before));
    put_in("hwmon", "hwmon1", "energy2_input", "12000000\n");
    near(joules_between(&energy, &before), 10);
}

static void nothing_to_read(void **state)
{
    (void)state;
    CpuEnergy energy;
    CpuEnergyReading reading;
    EnergyCpu cpu;
    assert_false(cpu_energy_open(&energy, machine));
    assert_false(cpu_energy_read(&energy, &reading));
    put_zone("intel-rapl:0", "package-0\n", "", NULL); /* as where it cannot be read */
    assert_false(cpu_energy_open(&energy, machine));
    energy_cpu_open(&cpu, machine);
    energy_cpu_start(&cpu);
    energy_cpu_step(&cpu);
    json_t *record = json_object();
    assert_int_equal(energy_cpu_put(&cpu, record, 10), ST_OK);
    assert_int_equal(json_object_size(record), 0);
    json_decref(record);
}

static void figures(void **state)
{
    (void)state;
    json_t *record = json_object();
    const EnergyWindow window = {.joules = 50, .seconds = 2, .resolution = 0.1, .steps = 5};
    assert_int_equal(energy_put(record, &window, 20), ST_OK);
    near(record_real(record, "joules_per_step"), 10);
    near(record_real(record, "joules_per_token"), 0.5);
    near(record_real(record, "energy_window_s"), 2);
    near(record_real(record, "energy_error_percent"), 5);
    json_object_clear(record);
    const EnergyWindow none[] = {{50, 0.1, 0.1, 5}, {50, 2, 0.1, 0}, {-1, 2, 0.1, 5}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(energy_put(record, &none[i], 20), ST_OK);
    assert_int_equal(json_object_size(record), 0);
    json_decref(record);
}

static void of_a_cell(void **state)
{
    (void)state;
    EnergyCpu cpu;
    json_t *record = json_object();
    put_zone("intel-rapl:0", "package-0\n", "1000000\n", "9000000\n");
    energy_cpu_open(&cpu, machine);
    energy_cpu_start(&cpu);
    for (int i = 0; i < 4; i++) energy_cpu_step(&cpu);
    put_zone("intel-rapl:0", "package-0\n", "3000000\n", "9000000\n");
    usleep(250000);
    assert_int_equal(energy_cpu_put(&cpu, record, 8), ST_OK);
    near(record_real(record, "joules_per_step"), 0.5);
    near(record_real(record, "joules_per_token"), 0.0625);
    assert_true(record_real(record, "energy_window_s") >= 0.25);
    json_decref(record);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, new_empty_machine, drop_machine)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(packages_and_memory), CASE(sockets_of_hwmon),
                                       CASE(nothing_to_read), CASE(of_a_cell),
                                       cmocka_unit_test(figures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
