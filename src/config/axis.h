/* The values of one option in a sweep, in the order they were typed, each once. */
#ifndef CONFIG_AXIS_H
#define CONFIG_AXIS_H

#include "config/option.h"

enum { AXIS_MAX_VALUES = 4096 };

typedef struct Axis {
    OptionValue *values;
    int n;
} Axis;

/* Appends "128", "128,256" or "64-1024*2" (ranges of whole numbers only). ST_USAGE says what is
 * wrong with which part. */
Status axis_read(Axis *axis, OptionId id, const char *s);
void axis_free(Axis *axis);

#endif
