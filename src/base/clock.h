/* What time it is. */
#pragma once

#include <stdint.h>

double clock_seconds(void);            /* monotonic, from an arbitrary start; for differences */
int64_t clock_nanoseconds(void);       /* the same clock */
int64_t clock_epoch_nanoseconds(void); /* since 1970, for files that say when */
/* What that clock showed when clock_nanoseconds() was `at`; the same in all processes of a machine but for
 * some ten nanoseconds. */
int64_t clock_epoch_of(int64_t at);

typedef struct ClockText {
    char s[24];
} ClockText;

ClockText clock_utc(void); /* "2024-05-01T12:34:56Z" */
