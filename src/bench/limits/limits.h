/* A device's measured roof: how fast matrix products and memory go; of a CPU on one core and on all
 * threads, of a GPU also what launches and the way to it cost.
 *
 * Measured once (some ten seconds) and kept under $XDG_CACHE_HOME/roofstep or ~/.cache/roofstep, one
 * file per processor or GPU, number of threads, library, and version and kernels of this program. */
#ifndef BENCH_LIMITS_LIMITS_H
#define BENCH_LIMITS_LIMITS_H

#include "base/status.h"
#include "config/config.h"

#include <stdbool.h>

typedef enum LimitId {
#define LIMIT(id, name, label, kind, on) LIMIT_##id,
#include "bench/limits/limits.def"
#undef LIMIT
    LIMIT_COUNT
} LimitId;

typedef enum LimitsKind {
    LIMITS_PRODUCT,  /* FLOP/s */
    LIMITS_MEMORY,   /* bytes/s of the device's own memory */
    LIMITS_TRANSFER, /* bytes/s between host and device */
    LIMITS_LATENCY,  /* seconds */
    LIMITS_LAUNCHES  /* per second */
} LimitsKind;
typedef enum LimitsOn { LIMITS_ON_CPU = 1, LIMITS_ON_GPU = 2, LIMITS_ON_BOTH = 3 } LimitsOn;
/* A GPU has no cores to measure alone: its figures are LIMITS_ALL. */
typedef enum LimitsScope { LIMITS_ONE, LIMITS_ALL, LIMITS_SCOPES } LimitsScope;

/* A figure from n repetitions; all 0 when it was not measured. */
typedef struct LimitsRate {
    double median, min, max;
    int n;
} LimitsRate;

typedef struct LimitsKey {
    char gpu[96]; /* "": these are the limits of the CPU */
    int multiprocessors;
    char cpu[128]; /* of a GPU: the one that launches its kernels */
    int cores;     /* that this process may use; 0 of a GPU */
    int threads;   /* of LIMITS_ALL; 0 of a GPU */
    char blas[96];
    char version[32]; /* of this program: its own kernels are measured too */
} LimitsKey;

typedef struct Limits {
    LimitsKey key;
    LimitsRate rate[LIMIT_COUNT][LIMITS_SCOPES];
    /* Of the device: its memory, its last-level caches, a GPU's compute capability (90 for 9.0); 0: not known. */
    int64_t memory_bytes, cache_bytes;
    int capability;
    double steal, others; /* shares of the device's time that others took interference, 0..1 */
    char throttled[128];  /* what slowed a GPU down interference, for people; "": nothing */
    double seconds;       /* that measuring took */
    char time_utc[24];
    char kernels[16]; /* ROOFSTEP_KERNELS of the program that measured them; "": this one */
    bool stored;      /* read from the cache, not measured now */
} Limits;

extern const struct LimitsName {
    const char *name, *label;
    LimitsKind kind;
    LimitsOn on;
} limits_names[LIMIT_COUNT];

const char *limits_unit(LimitId id); /* "FLOP/s", "byte/s", "s", "1/s" */
/* Whether the device of this key has such a limit. */
bool limits_has(const LimitsKey *key, LimitId id);

/* The key of the CPU. `threads` 0 stands for what is usual here (cpu_threads_usual). */
Status limits_key(int threads, LimitsKey *key);

/* Of config->device with config->threads: stored figures, or else (or with `refresh`) new ones, measured
 * in a child process and stored, unless others used so much of the device that they are no limits (with
 * `keep`: even then). The caller must be single-threaded. Says on stderr that it measures, and what keeps it from storing. */
Status limits_get(const Config *config, bool refresh, bool keep, Limits *out);

/* Of config->device with config->threads, if they are stored. Opens a GPU in this process: no fork after it. */
bool limits_get_stored(const Config *config, Limits *out);

/* False when nothing fit to use is stored; warns when what is there cannot be read. */
bool limits_load(const LimitsKey *key, Limits *out);
Status limits_store(const Limits *limits);
/* Of the CPU, in this process, whose OpenMP threads it starts: no fork after it. */
Status limits_measure(int threads, Limits *out);

/* The row of the largest product of a precision; those of the model's passes (forward, dX, dW) follow. */
enum { LIMITS_PASSES = 3 };
LimitId limits_largest(Precision precision);
/* The largest product rate seen on all threads: what MFU is measured against. 0 when unknown. */
double limits_peak_flops(const Limits *limits, Precision precision);
/* Others took so much of the device's time that the figures may be too low. */
bool limits_was_busy(const Limits *limits);

#endif
