/* The machine's measured roof: how fast matrix products and memory go, on one core and on all.
 *
 * Measured once (some ten seconds) and kept under $XDG_CACHE_HOME/roofstep or ~/.cache/roofstep, one
 * file per processor, number of threads, BLAS and version of this program. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "base/status.h"
#include "config/config.h"

#include <stdbool.h>

typedef enum LimitId {
#define LIMIT(id, name, label, kind) LIMIT_##id,
#include "bench/limits.def"
#undef LIMIT
    LIMIT_COUNT
} LimitId;

typedef enum LimitsKind { LIMITS_PRODUCT, LIMITS_MEMORY } LimitsKind;
typedef enum LimitsScope { LIMITS_ONE, LIMITS_ALL, LIMITS_SCOPES } LimitsScope;

/* A rate per second from n repetitions; all 0 when it was not measured. */
typedef struct LimitsRate {
    double median, min, max;
    int n;
} LimitsRate;

typedef struct LimitsKey {
    char cpu[128];
    int cores;   /* that this process may use */
    int threads; /* of LIMITS_ALL */
    char blas[64];
    char version[32]; /* of this program: its own kernels are measured too */
} LimitsKey;

typedef struct Limits {
    LimitsKey key;
    LimitsRate rate[LIMIT_COUNT][LIMITS_SCOPES];
    double steal, others; /* shares of all processor time others took meanwhile, 0..1 */
    double seconds;       /* that measuring took */
    char time_utc[24];
    bool stored; /* read from the cache, not measured now */
} Limits;

extern const struct LimitsName {
    const char *name, *label;
    LimitsKind kind;
} limits_names[LIMIT_COUNT];

/* `threads` 0 stands for all usable cores. */
Status limits_key(int threads, LimitsKey *key);

/* Stored figures, or else (or with `refresh`) new ones, measured in a child process and stored, unless
 * others used so much of the machine that they are no limits. The caller must be single-threaded.
 * Says on stderr that it measures, and what keeps it from storing. */
Status limits_get(int threads, bool refresh, Limits *out);

/* False when nothing fit to use is stored; warns when what is there cannot be read. */
bool limits_load(const LimitsKey *key, Limits *out);
Status limits_store(const Limits *limits);
/* In this process, whose OpenMP threads it starts: no fork after it. */
Status limits_measure(int threads, Limits *out);

/* The largest product rate seen on all threads: what MFU is measured against. 0 when unknown. */
double limits_peak_flops(const Limits *limits, Precision precision);
/* Others took so much processor time that the figures may be too low. */
bool limits_was_busy(const Limits *limits);

#endif
