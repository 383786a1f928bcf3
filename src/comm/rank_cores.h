/* The cores of a rank: those that the ranks of a machine may use, shared among them. */
#pragma once

#include "backend/proc_text.h"

/* Binds this process, rank `rank` of the `ranks` on this machine, to cores of its own: whole
 * ones, all that are there, neighbours together. Returns how many processors (hardware threads)
 * those are. 0: nothing is bound, because there are fewer cores than ranks. */
int rank_cores_bind(int rank, int ranks);

/* Which those are, of the processors `allowed`; `root` as in backend/proc_text.h. Returns how many. */
int rank_cores_share(const bool allowed[PROC_TEXT_CPUS], int rank, int ranks, const char *root,
                     bool own[PROC_TEXT_CPUS]);
