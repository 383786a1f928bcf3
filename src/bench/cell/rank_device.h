/* The GPU of a rank: by its place among the ranks of its machine, and which ranks have the same one. */
#pragma once

#include "bench/limits/placement.h"
#include "comm/comm.h"

/* In a rank, after comm_open(): `own`, its cell, gets the device that this rank takes. Of --device cuda
 * and auto rank r of a machine takes GPU r, from the beginning again where there are fewer.
 * ST_UNSUPPORTED: that would make ranks share one, and --share-gpu was not said. A CPU, or a
 * GPU that cannot be had, is left to placement_find(). */
Status rank_device_find(Comm *comm, Config *own);
/* After placement_find(): where the ranks are on GPUs, opens NCCL. */
Status rank_device_join(Comm *comm, Placement *placement);

/* How many of the ranks have what this one has: the same number. */
int rank_device_sharers(const double *of_ranks, int ranks, int rank);
/* A number for a GPU: of the machine and of the GPU's place in it. 0 is none. */
double rank_device_number(const char *machine, const char *bus_id);
