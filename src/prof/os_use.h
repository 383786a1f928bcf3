/* What the operating system did with this process: time on a processor, waiting for one and blocked,
 * switches and page faults. */
#ifndef PROF_OS_USE_H
#define PROF_OS_USE_H

#include "base/status.h"

#include <stdint.h>

/* Since the process began. Seconds are NAN where the kernel does not tell. */
typedef struct OsUse {
    int64_t voluntary, involuntary; /* context switches, all threads */
    int64_t minor_faults, major_faults;
    double user, system; /* seconds, all threads */
    double ran, waited;  /* the calling thread's: on a processor, and ready without one */
} OsUse;

typedef struct OsThread {
    int id;
    char name[16];
    double ran, waited; /* seconds */
} OsThread;

enum { OS_USE_THREADS = 1024 };

OsUse os_use_read(void);
/* The threads there are now, the first OS_USE_THREADS of them; returns how many. */
int os_use_threads(OsThread threads[OS_USE_THREADS]);

#endif
