#include "cli/live/live_conditions.h"

#include "backend/proc_text.h"
#include "base/stats.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *label, *name, *field; /* of the environment; NULL: from elsewhere */
} conditions[LIVE_CONDITIONS] = {
    [LIVE_LOAD] = {"load average of a minute", "load", "load"},
    [LIVE_OTHERS] = {"other programs (% of CPU time)", "others_percent", NULL},
    [LIVE_STOLEN] = {"other virtual machines (% of CPU time)", "stolen_percent", NULL},
    [LIVE_CLOCK] = {"CPU clock (MHz)", "cpu_clock_mhz", "frequency_mhz"},
    [LIVE_CPU_TEMPERATURE] = {"CPU temperature (C)", "cpu_temperature_c", NULL},
    [LIVE_GPU_CLOCK] = {"GPU clock (MHz)", "gpu_sm_mhz", "gpu_sm_mhz"},
    [LIVE_GPU_MEMORY_CLOCK] = {"GPU memory clock (MHz)", "gpu_memory_mhz", "gpu_memory_mhz"},
    [LIVE_GPU_TEMPERATURE] = {"GPU temperature (C)", "gpu_temperature_c", "gpu_temperature_c"},
    [LIVE_GPU_POWER] = {"GPU power (W)", "gpu_power_w", "gpu_power_w"},
};

const char *live_conditions_label(LiveCondition condition)
{
    return conditions[condition].label;
}

const char *live_conditions_name(LiveCondition condition)
{
    return conditions[condition].name;
}

/* The hottest of the sensors that are a processor's. */
static double cpu_temperature(void)
{
    enum { ZONES = 32 };
    double most = NAN;
    for (int i = 0; i < ZONES; i++) {
        char type[PROC_TEXT_LINE], text[PROC_TEXT_LINE];
        int64_t millidegrees;
        if (!proc_text_read(type, sizeof type, "", "/sys/class/thermal/thermal_zone%d/type", i))
            break;
        if (!strstr(type, "cpu") && !strstr(type, "pkg") && !strstr(type, "soc")) continue;
        if (!proc_text_read(text, sizeof text, "", "/sys/class/thermal/thermal_zone%d/temp", i))
            continue;
        if (proc_text_number(text, &millidegrees)) most = fmax(most, (double)millidegrees / 1e3);
    }
    return most;
}

/* Of the rows of a start the largest. */
static double largest(const RecordSet *rows, const char *field)
{
    double most = NAN;
    for (size_t i = 0; i < record_set_size(rows); i++)
        most = fmax(most, record_real(record_set_at(rows, i), field));
    return most;
}

void live_conditions_take(LiveSide *side)
{
    const json_t *environment = record_set_environment(&side->rows, record_set_at(&side->rows, 0));
    for (int k = 0; k < LIVE_CONDITIONS; k++) {
        const char *field = conditions[k].field;
        side->condition[k][side->starts] = field ? record_real(environment, field) : NAN;
    }
    side->condition[LIVE_OTHERS][side->starts] = largest(&side->rows, "others_percent");
    side->condition[LIVE_STOLEN][side->starts] = largest(&side->rows, "stolen_percent");
    side->condition[LIVE_CPU_TEMPERATURE][side->starts] = cpu_temperature();
    side->starts++;
}

double live_conditions_median(const LiveSide *side, LiveCondition condition)
{
    double known[PAIRED_TEST_MOST];
    int n = 0;
    for (int i = 0; i < side->starts; i++) {
        const double x = side->condition[condition][i];
        if (!isnan(x)) known[n++] = x;
    }
    return stats_median(known, n);
}
