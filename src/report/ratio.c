#include "report/ratio.h"

#include <math.h>
#include <stdio.h>

Ratio ratio_of(double a, double std_a, double b, double std_b)
{
    const double value = a / b;
    return (Ratio){value, a > 0 ? value * hypot(std_a / a, std_b / b) : NAN};
}

static bool measured(const Record *r, const char *phase, double *mean, double *std)
{
    char path[64];
    if (record_phase_status(r, phase) != RECORD_OK) return false;
    snprintf(path, sizeof path, "%.32s.mean_ms", phase);
    if (!record_number(r, path, mean)) return false;
    snprintf(path, sizeof path, "%.32s.std_ms", phase);
    if (!record_number(r, path, std)) *std = NAN;
    return true;
}

bool ratio_of_phases(const Record *a, const char *over, const Record *b, const char *under,
                     Ratio *out)
{
    double mean_a, mean_b, std_a, std_b;
    if (!measured(a, over, &mean_a, &std_a) || !measured(b, under, &mean_b, &std_b)) return false;
    if (mean_b <= 0) return false;
    *out = ratio_of(mean_a, std_a, mean_b, std_b);
    return true;
}
