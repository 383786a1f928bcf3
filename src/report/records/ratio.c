#include "report/records/ratio.h"

#include "bench/record/record_stat.h"

#include <math.h>

Ratio ratio_of(double a, double spread_a, double b, double spread_b)
{
    const double value = a / b;
    return (Ratio){value, a > 0 ? value * hypot(spread_a / a, spread_b / b) : NAN};
}

static bool measured(const Record *r, const char *phase, double *ms, double *spread)
{
    if (!record_stat_ms(r, phase, ms)) return false;
    if (!record_stat_spread(r, phase, spread)) *spread = NAN;
    return true;
}

bool ratio_of_phases(const Record *a, const char *over, const Record *b, const char *under,
                     Ratio *out)
{
    double ms_a, ms_b, spread_a, spread_b;
    if (!measured(a, over, &ms_a, &spread_a) || !measured(b, under, &ms_b, &spread_b)) return false;
    if (ms_b <= 0) return false;
    *out = ratio_of(ms_a, spread_a, ms_b, spread_b);
    return true;
}
