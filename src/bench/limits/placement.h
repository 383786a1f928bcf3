/* Where a cell runs, and what cannot run there. */
#pragma once

#include "backend/backend.h"
#include "bench/limits/limits.h"
#include "config/config.h"
#include "exec/step_plan.h"

typedef struct Placement {
    BackendId backend;
    int device;     /* number among those of the backend */
    int capability; /* of a GPU: 90 for 9.0; 0 on a CPU, or when no such GPU is there to ask */
    int threads;    /* on a CPU; at least 1 */
    int sharing;    /* ranks that use this GPU; 0: one */
    bool here;      /* the device is in this machine, and this build can use it */
    char name[16];  /* "cpu", "cuda:0" */
} Placement;

/* The device a cell is planned for; it need not be in this machine. ST_UNSUPPORTED: this device
 * cannot do what the config asks for; the message says what can. `auto` opens the devices of this
 * build to see which is there. */
Status placement_of(const Config *config, Placement *placement);

/* The same on the machine that these limits are of; no device is opened. NULL: on this one.
 * ST_USAGE: they are those of the other kind of device. */
Status placement_on(const Config *config, const Limits *machine, Placement *placement);

/* placement_of() for a run here. ST_UNSUPPORTED also where there is no such GPU, or OMP_THREAD_LIMIT
 * allows fewer threads: before work that would all end so. */
Status placement_find(const Config *config, Placement *placement);

/* ST_UNSUPPORTED: its numbers can be had there, its time and memory cannot. */
Status placement_check_timed(const Config *config, const Placement *placement);

/* The config with the set of layers that `--fp8-layers auto` becomes there (bench/limits/fp8_linears.h). */
Status placement_settle_fp8(const Config *config, const Placement *placement, Config *settled);

/* The plan of a step there (exec/step_plan.h). */
Status placement_plan(const Placement *placement, const Config *config, Mode mode, Model *model,
                      Binding *binding);

/* ST_UNSUPPORTED: a GPU of this capability (0: any) lacks what the config asks for. */
Status placement_check_gpu(const Config *config, int capability);

/* The cell with its device and threads as placed. */
Config placement_settle(const Config *config, const Placement *placement);
