#include "backend/cpu_energy.h"

#include "backend/proc_text.h"

#include <stdio.h>
#include <string.h>

static const double joules_of = 1e-6; /* they count in millionths */

static bool read_number(const char *root, const char *file, int64_t *value)
{
    char text[PROC_TEXT_LINE];
    return proc_text_read(text, sizeof text, root, "%s", file) && proc_text_number(text, value) &&
           *value >= 0;
}

/* A counter that can be read. */
static void add(CpuEnergy *energy, const char *file, double range)
{
    int64_t value;
    if (energy->n == CPU_ENERGY_COUNTERS || !read_number(energy->root, file, &value)) return;
    snprintf(energy->counters[energy->n].file, sizeof energy->counters[0].file, "%s", file);
    energy->counters[energy->n++].range = range;
}

/* ---- RAPL ---- */

static void add_zone(CpuEnergy *energy, const char *zone)
{
    char file[96];
    int64_t range = 0;
    snprintf(file, sizeof file, "%s/max_energy_range_uj", zone);
    if (!read_number(energy->root, file, &range)) range = 0;
    snprintf(file, sizeof file, "%s/energy_uj", zone);
    add(energy, file, joules_of * (double)range);
}

static bool zone_is(const CpuEnergy *energy, const char *zone, const char *name)
{
    char text[PROC_TEXT_LINE];
    return proc_text_read(text, sizeof text, energy->root, "%s/name", zone) &&
           strncmp(text, name, strlen(name)) == 0;
}

/* Cores and a GPU beside them are part of their package; the platform is more than the processors. */
static void find_rapl(CpuEnergy *energy)
{
    enum { ZONES = 16, PARTS = 8 };
    static const char folder[] = "/sys/class/powercap/intel-rapl";
    for (int i = 0; i < ZONES; i++) {
        char zone[64];
        snprintf(zone, sizeof zone, "%s:%d", folder, i);
        if (!zone_is(energy, zone, "package-")) continue;
        add_zone(energy, zone);
        for (int k = 0; k < PARTS; k++) {
            snprintf(zone, sizeof zone, "%s:%d:%d", folder, i, k);
            if (zone_is(energy, zone, "dram")) add_zone(energy, zone);
        }
    }
}

/* ---- hwmon: sockets ---- */

static void find_hwmon(CpuEnergy *energy)
{
    enum { CHIPS = 32, SENSORS = 512 };
    for (int chip = 0; chip < CHIPS; chip++) {
        char label[PROC_TEXT_LINE], file[96];
        for (int i = 1; i <= SENSORS; i++) {
            if (!proc_text_read(label, sizeof label, energy->root,
                                "/sys/class/hwmon/hwmon%d/energy%d_label", chip, i))
                break;
            snprintf(file, sizeof file, "/sys/class/hwmon/hwmon%d/energy%d_input", chip, i);
            if (strncmp(label, "Esocket", 7) == 0) add(energy, file, 0);
        }
    }
}

bool cpu_energy_open(CpuEnergy *energy, const char *root)
{
    *energy = (CpuEnergy){.root = root, .resolution = 1e-3};
    find_rapl(energy);
    if (energy->n > 0) return true;
    energy->resolution = 0.1;
    find_hwmon(energy);
    return energy->n > 0;
}

bool cpu_energy_read(const CpuEnergy *energy, CpuEnergyReading *reading)
{
    for (int i = 0; i < energy->n; i++) {
        int64_t value;
        if (!read_number(energy->root, energy->counters[i].file, &value)) return false;
        reading->joules[i] = joules_of * (double)value;
    }
    return energy->n > 0;
}

double cpu_energy_between(const CpuEnergy *energy, const CpuEnergyReading *before,
                          const CpuEnergyReading *after)
{
    double joules = 0;
    for (int i = 0; i < energy->n; i++) {
        const double used = after->joules[i] - before->joules[i];
        joules += used < 0 ? used + energy->counters[i].range : used;
    }
    return joules;
}
