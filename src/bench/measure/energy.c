#include "bench/measure/energy.h"

#include "base/clock.h"

static const double shortest = 0.2; /* seconds */

Status energy_put(Record *record, const EnergyWindow *window, double tokens_per_step)
{
    if (window->steps <= 0 || window->seconds < shortest || window->joules < 0) return ST_OK;
    const double a_step = window->joules / (double)window->steps;
    TRY(record_put_number(record, "joules_per_token", a_step / tokens_per_step));
    TRY(record_put_number(record, "joules_per_step", a_step));
    TRY(record_put_number(record, "energy_window_s", window->seconds));
    return record_put_number(record, "energy_error_percent",
                             100 * window->resolution / window->seconds);
}

void energy_cpu_open(EnergyCpu *cpu, const char *root)
{
    *cpu = (EnergyCpu){0};
    cpu_energy_open(&cpu->counters, root);
}

void energy_cpu_start(EnergyCpu *cpu)
{
    cpu->steps = 0;
    cpu->started = clock_seconds();
    cpu->counts = cpu_energy_read(&cpu->counters, &cpu->before);
}

void energy_cpu_step(EnergyCpu *cpu)
{
    cpu->steps++;
}

Status energy_cpu_put(const EnergyCpu *cpu, Record *record, double tokens_per_step)
{
    CpuEnergyReading now;
    const double seconds = clock_seconds() - cpu->started;
    if (!cpu->counts || !cpu_energy_read(&cpu->counters, &now)) return ST_OK;
    const EnergyWindow window = {cpu_energy_between(&cpu->counters, &cpu->before, &now), seconds,
                                 cpu->counters.resolution, cpu->steps};
    return energy_put(record, &window, tokens_per_step);
}
