/* Which instructions this processor has, asked while running: a binary is built for every processor of
 * its architecture, never for the one that built it. */
#ifndef BACKEND_CPU_FEATURES_H
#define BACKEND_CPU_FEATURES_H

#include <stdbool.h>

/* `word` as in /proc/cpuinfo: "bf16". Words in the environment variable ROOFSTEP_CPU_HIDE, separated by
 * commas, count as missing: so the paths of older processors are tested on newer ones. */
bool cpu_features_has(const char *word);

/* What the hardware says: cpu_features_ARCHITECTURE.c. */
bool cpu_features_hardware(const char *word);

#endif
