/* Reads the small text files of /proc and /sys. Every path is taken under a root directory, "" for
 * the machine itself, so that tests can show another machine. Paths are formatted as by printf(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROC_TEXT_LINE = 256, PROC_TEXT_CPUS = 8192 };

/* The file's first size - 1 bytes, less the last newline; false (and "") when it cannot be read. */
bool proc_text_read(char *text, size_t size, const char *root, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* The decimal number that a text starts with; false when there is none. */
bool proc_text_number(const char *text, int64_t *value);

/* The value of the first line "key : value" or "key value"; false when there is no such line. */
bool proc_text_field(const char *text, const char *key, char *value, size_t size);

/* `word` is in the list, whose words are separated by blanks or commas. */
bool proc_text_has_word(const char *list, const char *word);

/* "0-3,8" -> in[0..3] and in[8] are true, all others false; returns how many. */
int proc_text_cpu_list(const char *list, bool in[PROC_TEXT_CPUS]);
