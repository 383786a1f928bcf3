/* Lines for people on stderr, never stdout: "roofstep: warning: ...". */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

bool log_terminal(void);    /* stderr is a terminal that can move its cursor */
bool log_colour(void);      /* the same, and NO_COLOR is not set */
bool log_colour_on(int fd); /* of another file: stdout */

#endif
