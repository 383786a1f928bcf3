/* What time it is. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_seconds(void); /* monotonic, from an arbitrary start; for differences */

typedef struct ClockText {
    char s[24];
} ClockText;

ClockText clock_utc(void); /* "2024-05-01T12:34:56Z" */

#endif
