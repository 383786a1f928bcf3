/* The measured roof of a device: the rates of matrix multiplications and of memory; of a CPU on one
 * core and on all threads, of a GPU also the cost of launches and of transfers to and from it. */
#pragma once

#include "base/status.h"
#include "config/config.h"

#include <stdbool.h>

typedef enum LimitId {
#define LIMIT(id, name, label, kind, on) LIMIT_##id,
#include "bench/limits/limits.def"
    LIMIT_COUNT
} LimitId;

typedef enum LimitsKind {
    LIMITS_MATMUL,   /* FLOP/s */
    LIMITS_MEMORY,   /* bytes/s of the device's own memory */
    LIMITS_CACHE,    /* bytes/s of one level of its caches */
    LIMITS_TRANSFER, /* bytes/s between host and device, or between ranks */
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
    char mpi[64];     /* that links between ranks were measured with; "": there are no links */
} LimitsKey;

typedef struct Limits {
    LimitsKey key;
    LimitsRate rate[LIMIT_COUNT][LIMITS_SCOPES];
    /* Of the device: its memory, its last-level caches, a GPU's compute capability (90 for 9.0); 0:
     * not known. */
    int64_t memory_bytes, cache_bytes;
    int capability;
    double steal,
        others; /* shares of the device's time that went to others while it was measured, 0..1 */
    char throttled[128]; /* what slowed a GPU down while it was measured, for people; "": nothing */
    double seconds;      /* that measuring took */
    char time_utc[24];
    char kernels[16];      /* ROOFSTEP_KERNELS of the program that measured them; "": this one */
    bool stored;           /* read from the cache, not measured now */
    const char *datasheet; /* the document, where nothing was measured (bench/limits/datasheet.h) */
} Limits;

extern const struct LimitsName {
    const char *name, *label;
    LimitsKind kind;
    LimitsOn on;
} limits_names[LIMIT_COUNT];

const char *limits_unit(LimitId id); /* "FLOP/s", "byte/s", "s", "1/s" */
/* Whether the device of this key has such a limit; and figures of one core or of all. */
bool limits_has(const LimitsKey *key, LimitId id);
bool limits_has_scope(const LimitsKey *key, LimitId id, LimitsScope scope);
/* Is it a figure of links between ranks (bench/limits/comm_link.h)? */
bool limits_is_link(LimitId id);
/* Whether it is written: all that the device has, of links, caches and fp8 those that were measured. */
bool limits_shows(const Limits *limits, LimitId id);

/* The key of the CPU. `threads` 0 stands for what is usual here (cpu_threads_usual). */
Status limits_key(int threads, LimitsKey *key);

/* The device of these limits, for people: "NVIDIA H200", "Neoverse-V1, 2 threads". */
typedef struct LimitsDeviceName {
    char s[160];
} LimitsDeviceName;
LimitsDeviceName limits_device_name(const Limits *limits);

/* Of n repetitions, at most LIMITS_MAX_REPEATS. */
enum { LIMITS_MAX_REPEATS = 64 };
LimitsRate limits_rate_of(const double *rates, int n);

/* The row of the largest matmul of a precision; the rows of the model's passes (forward, dX, dW) follow. */
enum { LIMITS_PASSES = 3 };
LimitId limits_largest(Precision precision);
/* The largest rate of a matmul on all threads: the denominator of MFU. 0 when unknown. */
double limits_peak_flops(const Limits *limits, Precision precision);
/* Other programs took so much of the device's time that the figures may be too low. */
bool limits_was_busy(const Limits *limits);
