/* Lines for people on stderr, never stdout: "roofstep: warning: ...". */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* stderr is a terminal that has colours and moves its cursor, and NO_COLOR is not set or empty. */
bool log_colour(void);
bool log_colour_on(int fd); /* the same of another file: stdout */

#endif
