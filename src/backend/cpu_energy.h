/* The energy that the processors have used, by their own counters: RAPL, or what a driver tells hwmon. Linux
 * lets only root read RAPL's on most machines. */
#pragma once

#include <stdbool.h>

enum { CPU_ENERGY_COUNTERS = 16 };

typedef struct CpuEnergy {
    const char *root; /* "" for this machine (backend/proc_text.h) */
    struct {
        char file[96];
        double range; /* joules after which it begins again; 0: never */
    } counters[CPU_ENERGY_COUNTERS];
    int n;
    double resolution; /* seconds between two values */
} CpuEnergy;

typedef struct CpuEnergyReading {
    double joules[CPU_ENERGY_COUNTERS];
} CpuEnergyReading;

/* Packages, and memory where it is counted by itself. False: nothing can be read. `root` must outlive it. */
bool cpu_energy_open(CpuEnergy *energy, const char *root);
bool cpu_energy_read(const CpuEnergy *energy, CpuEnergyReading *reading);
/* Joules between two readings that are less than one range apart. */
double cpu_energy_between(const CpuEnergy *energy, const CpuEnergyReading *before,
                          const CpuEnergyReading *after);
