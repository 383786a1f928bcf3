/* The times of one measured step, and series of them. */
#pragma once

#include "base/status.h"
#include "config/config.h"
#include "plan/plan.h"

typedef enum SampleSeries {
    SAMPLE_FORWARD,
    SAMPLE_BACKWARD,
    SAMPLE_OPTIMIZER,
    SAMPLE_STEP, /* the whole step, as a training loop runs it */
    SAMPLE_WALL_COUNT,
    /* The same four by the device's own clock, where it has one. */
    SAMPLE_GPU_FORWARD = SAMPLE_WALL_COUNT,
    SAMPLE_GPU_BACKWARD,
    SAMPLE_GPU_OPTIMIZER,
    SAMPLE_GPU_STEP,
    SAMPLE_COUNT
} SampleSeries;

const char *sample_series_name(SampleSeries series); /* as in records: "forward"; "gpu_forward" */

typedef struct Sample {
    double seconds[SAMPLE_COUNT]; /* NAN: not measured in this one */
} Sample;

Sample sample_empty(void);

/* Grows as samples come. A zeroed one is empty. */
typedef struct SampleList {
    double *seconds;
    int n;
} SampleList;

Status sample_list_add(SampleList *list, double seconds);
void sample_list_free(SampleList *list);
/* From the statistic to the farther end of its 95 % interval, as a share of it. NAN: there is none
 * (too few samples, or a minimum). */
double sample_list_interval(const SampleList *list, Stat stat);
