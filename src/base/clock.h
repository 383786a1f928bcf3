/* What time it is. */
#pragma once

#include <stdint.h>

double clock_seconds(void);            /* monotonic, from an arbitrary start; for differences */
int64_t clock_nanoseconds(void);       /* the same clock */
int64_t clock_epoch_nanoseconds(void); /* since 1970, for files that say when */

typedef struct ClockText {
    char s[24];
} ClockText;

ClockText clock_utc(void); /* "2024-05-01T12:34:56Z" */
