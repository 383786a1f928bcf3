#include "bench/measure/sample.h"

#include "base/array.h"
#include "base/stats.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

const char *sample_series_name(SampleSeries series)
{
    static const char *const names[SAMPLE_COUNT] = {
        "forward",     "backward",     "optimizer",     "step",
        "gpu_forward", "gpu_backward", "gpu_optimizer", "gpu_step",
    };
    return names[series];
}

Sample sample_empty(void)
{
    Sample sample;
    for (int s = 0; s < SAMPLE_COUNT; s++) sample.seconds[s] = NAN;
    return sample;
}

Status sample_list_add(SampleList *list, double seconds)
{
    if (list->n == INT_MAX) return FAIL(ST_FAILED, "more than %d samples", list->n);
    TRY(array_grow(&list->seconds, (size_t)list->n, 1, sizeof *list->seconds));
    list->seconds[list->n++] = seconds;
    return ST_OK;
}

void sample_list_free(SampleList *list)
{
    free(list->seconds);
    *list = (SampleList){0};
}

double sample_list_interval(const SampleList *list, Stat stat)
{
    double low, high;
    if (stat == STAT_MIN) return NAN;
    if (stat == STAT_MEAN)
        return stats_ci95(list->seconds, list->n) / stats_mean(list->seconds, list->n);
    const double median = stats_median(list->seconds, list->n);
    stats_median_interval(list->seconds, list->n, &low, &high);
    return isnan(low) ? NAN : fmax(median - low, high - median) / median;
}
