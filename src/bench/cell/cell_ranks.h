/* What a cell whose step several ranks share does together with the others: plan the same, take the same
 * number of samples, and tell how long each rank took and what communication cost. */
#pragma once

#include "bench/cell/cell_facts.h"
#include "bench/measure/sample.h"
#include "comm/comm.h"

/* The cell as this rank runs it. ST_FAILED: the launcher started another number of ranks. */
Status cell_ranks_config(const Comm *comm, const Config *config, Config *own);
/* The step as every rank plans it: with the memory that each may have of this machine's. */
Status cell_ranks_fit(Comm *comm, Fit *fit, const Config *config, const Placement *placement);
/* Each time becomes that of the slowest rank. */
Status cell_ranks_slowest(Comm *comm, Sample *sample);
/* A figure of every rank, to all of them: as many as there are ranks. */
Status cell_ranks_gather(Comm *comm, double own, double *of_ranks);
/* As rank 0 says. */
Status cell_ranks_agree(Comm *comm, bool *goes_on);
/* Whether a strategy that sends beside the step hides next to nothing, and the step is longer for it. */
bool cell_ranks_exposes(Parallel parallel, double step, double communication, double exposed);
/* After the samples, whose steps took `steps`, and all collectives of them `seconds`, for which others
 * `waited`. Runs as many steps without collectives, at most ten, to see how much of their time no work hides.
 * The parameters of ranks differ afterwards. */
Status cell_ranks_tell(Comm *comm, const CellOpen *cell, const SampleList *steps, double seconds,
                       double waited);
