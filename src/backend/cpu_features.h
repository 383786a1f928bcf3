/* Which instructions this processor has, asked while running: a binary is built for every processor of
 * its architecture, never for the one that built it. */
#pragma once

#include <stdbool.h>

/* Whether all of `words` are there, as in /proc/cpuinfo and separated by commas: "bf16", "avx2,fma". Those in
 * the environment variable ROOFSTEP_CPU_HIDE, or "all", count as missing: so the paths of older processors
 * are tested on newer ones. */
bool cpu_features_has(const char *words);

typedef struct CpuFeatureList {
    char s[256];
} CpuFeatureList;

/* Those of `features`, words with blanks between them, that the variable hides; "" where it hides none. */
CpuFeatureList cpu_features_hidden(const char *features);

/* What the hardware and its kernel say of one word: cpu_features_ARCHITECTURE.c. */
bool cpu_features_hardware(const char *word);
