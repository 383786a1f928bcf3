/* Where a cell runs, and what cannot run there. */
#ifndef BENCH_LIMITS_PLACEMENT_H
#define BENCH_LIMITS_PLACEMENT_H

#include "backend/backend.h"
#include "bench/limits/limits.h"
#include "config/config.h"

typedef struct Placement {
    BackendId backend;
    int device;     /* number among those of the backend */
    int capability; /* of a GPU: 90 for 9.0; 0 on a CPU, or when no such GPU is there to ask */
    int threads;    /* on a CPU; at least 1 */
    bool here;      /* the device is in this machine, and this build can use it */
    char name[32];  /* "cpu", "cuda:0" */
} Placement;

/* Where it is planned for, which need not be there. ST_UNSUPPORTED: this device cannot do what the config asks
 * for; the message says what can. `auto` opens the devices of this build to see which is there. */
Status placement_of(const Config *config, Placement *placement);

/* The same on the machine that these limits are of: no device is asked. ST_USAGE: they are those of the other kind
 * of device. */
Status placement_elsewhere(const Config *config, const Limits *limits, Placement *placement);

/* The same, and ST_UNSUPPORTED where the GPU that is asked for is not there, or OpenMP may not start as many threads: before
 * work that would all end so. */
Status placement_find(const Config *config, Placement *placement);

/* ST_UNSUPPORTED: a GPU of this capability (0: any) lacks what the config asks for. */
Status placement_check_gpu(const Config *config, int capability);

#endif
