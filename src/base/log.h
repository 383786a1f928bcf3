/* Lines for people on stderr: "roofstep: warning: ...". Text is escaped (base/escape.h): a file name
 * adds no line and no control sequence. */
#pragma once

#include <stdbool.h>

void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints each text once, in this process and in processes that it starts later. */
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Is this line of a child a warning that this process or another child has printed before? */
bool log_is_repeated(const char *line);

/* An error in one line, as a note. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* How much is said beside warnings and errors: all; no line of what is under way, because the program that
 * started this one shows how far it is; nothing. The environment carries it (ROOFSTEP_LOG), to every
 * process that this one starts later. */
typedef enum LogMode { LOG_ALL, LOG_PART, LOG_QUIET } LogMode;
LogMode log_mode(void);
void log_set_mode(LogMode mode); /* never to more than it is */

/* A whole line, without the "roofstep: " before it. */
void log_line(const char *line);

/* stderr is a terminal with colours and cursor movement, and NO_COLOR is unset or empty. */
bool log_colour(void);
bool log_colour_on(int fd); /* the same for another descriptor */
