/* Where a cell runs, and what cannot run there. */
#ifndef BENCH_PLACEMENT_H
#define BENCH_PLACEMENT_H

#include "backend/backend.h"
#include "config/config.h"

typedef struct Placement {
    BackendId backend;
    int device;     /* number among those of the backend */
    int capability; /* of a GPU: 90 for 9.0; 0 on a CPU, or when no such GPU is there to ask */
    int threads;    /* on a CPU; at least 1 */
    char name[32];  /* "cpu", "cuda:0" */
} Placement;

/* ST_UNSUPPORTED: this build or this device cannot do what the config asks for; the message says what
 * can. `auto` opens the devices of this build to see which is there. */
Status placement_of(const Config *config, Placement *placement);

/* The same, and ST_UNSUPPORTED where the GPU that is asked for is not there: before work that would all end so. */
Status placement_find(const Config *config, Placement *placement);

/* ST_UNSUPPORTED: a GPU of this capability (0: any) lacks what the config asks for. */
Status placement_check_gpu(const Config *config, int capability);

#endif
