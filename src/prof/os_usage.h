/* What the operating system did with this process: time on a CPU, waiting for one and blocked, switches and
 * page faults. */
#pragma once

#include <stdint.h>

/* Since the process began. Seconds are NAN where the kernel does not say. */
typedef struct OsUsage {
    int64_t voluntary, involuntary; /* context switches, all threads */
    int64_t minor_faults, major_faults;
    double user, system; /* seconds, all threads */
    double ran, waited;  /* the calling thread's: on a CPU, and waiting for one */
} OsUsage;

typedef struct OsThread {
    int id;
    char name[16];
    double ran, waited; /* seconds */
} OsThread;

OsUsage os_usage_read(void);
/* The threads there are now; returns how many, at most `most`. */
int os_usage_threads(OsThread *threads, int most);
