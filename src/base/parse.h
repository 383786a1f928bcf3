/* Strict readers of numbers as people type them.
 *
 * The whole string must be the number: no blanks, no rest. What is wrong is ST_USAGE with a line that
 * quotes the string; callers put the option's name before it with status_context(). */
#pragma once

#include "base/status.h"

#include <stdint.h>

Status parse_int(const char *s, int64_t *out);   /* -12 */
Status parse_real(const char *s, double *out);   /* 1e-3; finite */
Status parse_bytes(const char *s, int64_t *out); /* 4096, 8GiB, 8G (the same), 8GB (10^9), 1.5TiB */
Status parse_percent(const char *s, double *out); /* 1% -> 0.01; the sign is required */
Status parse_seconds(const char *s, double *out); /* 600, 90s, 1.5m, 2h, 250ms, 5us, 800ns */
Status parse_rate(const char *s, double *out);    /* bytes a second: 50GB/s, 1.5TB/s, 800MiB/s */
