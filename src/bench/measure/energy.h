/* The energy of the samples of a cell, by counters of the device: of a GPU through NVML, of CPUs
 * backend/cpu_energy.h. They count what the whole device used, other programs' work too. */
#pragma once

#include "backend/cpu_energy.h"
#include "bench/record/record.h"

/* Joules between two looks at a counter. */
typedef struct EnergyWindow {
    double joules, seconds;
    double resolution; /* seconds between two values of the counter */
    int64_t steps;
} EnergyWindow;

/* joules_per_token and per step, the window, and how far its ends may be off. Nothing of a window that is too
 * short. */
Status energy_put(Record *record, const EnergyWindow *window, double tokens_per_step);

/* Of the processors; all zero: they tell nothing. */
typedef struct EnergyCpu {
    CpuEnergy counters;
    CpuEnergyReading before;
    double started;
    int64_t steps; /* since the start */
    bool counts;
} EnergyCpu;

void energy_cpu_open(EnergyCpu *cpu, const char *root);
void energy_cpu_start(EnergyCpu *cpu);
void energy_cpu_step(EnergyCpu *cpu);
Status energy_cpu_put(const EnergyCpu *cpu, Record *record, double tokens_per_step);
