/* The limits of another machine, from the file that `roofstep limits --format json` wrote there. */
#ifndef BENCH_LIMITS_LIMITS_FILE_H
#define BENCH_LIMITS_LIMITS_FILE_H

#include "bench/limits/limits.h"

/* Plain or packed (.gz). ST_USAGE with one line that names the file and what is wrong with it. */
Status limits_file_read(Limits *out, const char *path);

/* Whose they are, for people: "NVIDIA H200", "Neoverse-V1, 2 threads". */
typedef struct LimitsFileName {
    char s[160];
} LimitsFileName;
LimitsFileName limits_file_name(const Limits *limits);

#endif
