/* Limits that were measured before: under $XDG_CACHE_HOME/roofstep or ~/.cache/roofstep, one file
 * per processor or GPU, number of threads, library, and version and kernels of this program. */
#pragma once

#include "bench/limits/limits.h"
#include "bench/limits/placement.h"

/* False where none are stored; warns when a file cannot be read. */
bool limits_cache_load(const LimitsKey *key, Limits *out);
Status limits_cache_store(const Limits *limits);
/* Load those of a device; of config->device with config->threads. Each opens a GPU in this process: no fork
 * after it. */
bool limits_cache_of(const Placement *placement, Limits *out);
bool limits_cache_find(const Config *config, Limits *out);

/* Limits of config->device with config->threads: stored ones, or else (or with `refresh`) new ones,
 * measured in a child process and stored, unless other programs used so much of the device that
 * they are no limits (with `keep`: even then). The caller must be single-threaded. Says on stderr
 * that it measures, and why it does not store. */
Status limits_cache_get(const Config *config, bool refresh, bool keep, Limits *out);
