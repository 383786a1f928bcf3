/* Lines for people on stderr, never stdout: "roofstep: warning: ...". Each stays one line and holds
 * nothing that a terminal obeys, whatever a file's name in it is (base/escape.h). */
#pragma once

#include <stdbool.h>

void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Once: neither this process nor one that it starts afterwards says the same words again. */
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Whether a line that a child printed is a warning that was heard before, here or from another child. */
bool log_is_repeated(const char *line);

/* A whole line, without the "roofstep: " before it. */
void log_line(const char *line);

/* stderr is a terminal that has colours and moves its cursor, and NO_COLOR is not set or empty. */
bool log_colour(void);
bool log_colour_on(int fd); /* the same of another file: stdout */
