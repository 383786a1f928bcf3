/* One time divided by another, with the error that follows from both spreads. */
#ifndef REPORT_RECORDS_RATIO_H
#define REPORT_RECORDS_RATIO_H

#include "bench/record/record.h"

typedef struct Ratio {
    double value;
    double error; /* of the kind that its spreads are; NAN when one is unknown */
} Ratio;

/* r = a / b, error r sqrt((sa/a)^2 + (sb/b)^2): first order, spreads independent. */
Ratio ratio_of(double a, double spread_a, double b, double spread_b);

/* Time of phase `over` of record `a` divided by that of phase `under` of record `b`, each by its record's statistic. False when
 * either was not measured or the divisor is 0. */
bool ratio_of_phases(const Record *a, const char *over, const Record *b, const char *under,
                     Ratio *out);

#endif
