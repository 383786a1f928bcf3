/* A cell that is profiled: measured as `bench` does first, then run again with everything watched, so
 * that the price of watching is known. */
#pragma once

#include "bench/cell/cell.h"
#include "prof/profiler.h"

typedef struct ProfileTask {
    int64_t trace_steps;     /* of which every event is kept */
    bool nvtx, annotate_mha; /* ranges for another profiler, with the parts of attention */
    void *self;
    /* What is kept of the events goes to files; NULL: nowhere. */
    Status (*write)(void *self, const CellOpen *cell, const Profiler *profiler);
} ProfileTask;

Status profile_cell_run(const Config *config, CellLink *link, const ProfileTask *task);
