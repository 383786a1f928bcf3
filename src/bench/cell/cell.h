/* One cell of a sweep, from its config to what its record is made of. Runs in a process of its own
 * (bench/cell/runner.h), because what it does may end that process. */
#pragma once

#include "bench/cell/cell_facts.h"
#include "bench/measure/rank_process.h"

Status cell_run(const Config *config, CellLink *link);
/* The same in one of the ranks that share its step (bench/measure/rank_launch.h). */
RankCell cell_run_as_rank;

/* Cells that differ in warm-up and steps alone may share a process and its model. Not so those
 * without a warm-up, whose point is the fresh process. */
bool cell_shares(const Config *a, const Config *b);
/* Such cells one after the other; what is told of the second and later ones comes after a
 * cell_link_next(). */
Status cell_run_shared(const Config *configs, int n, CellLink *link);

/* What a study does with a cell that fits; each may be NULL. */
typedef struct CellHooks {
    void *self;
    Status (*opened)(void *self, const CellOpen *cell);          /* before the first step */
    Status (*stage)(void *self, const char *what, int64_t done); /* as it goes on */
    Status (*measure)(void *self, const CellOpen *cell);         /* instead of the samples */
    Status (*measured)(void *self, const CellOpen *cell);        /* after the last sample */
    bool untimed;         /* it is for the numbers: where those are emulated, too */
    const char *cpu_only; /* the command whose ranks run on CPUs only as yet; NULL: on GPUs, too */
} CellHooks;

Status cell_run_with_hooks(const Config *config, CellLink *link, const CellHooks *hooks);
/* As one of its ranks. */
Status cell_run_as_rank_with_hooks(const Config *config, CellLink *link, const CellHooks *hooks);
