/* The ranks of a cell, seen from one of them: who it is, and collectives over all ranks on
 * memory of the CPU.
 *
 * Ranks on one machine go through memory that they share (comm/shared_window.h), others through
 * MPI (comm/messages.h). Both sum in the order of ranks, so that the bits of a sum depend on
 * neither, nor on how often it is run: a reduce_scatter and an all_gather are an all_reduce to
 * the bit. All ranks call the same functions with the same sizes in the same order. */
#pragma once

#include "base/status.h"
#include "config/config.h"
#include "plan/plan.h"

typedef struct Comm Comm;
struct NcclComm;

/* In a process that a launcher started (comm/launcher.h). It is bound to cores of its own
 * (comm/rank_cores.h); where there are too few of them, whoever waits leaves its processor to
 * others. The caller closes it. */
Status comm_open(Comm **out);
/* Waits until all ranks are through with it. NULL: nothing. */
void comm_close(Comm *comm);
/* Ends MPI, when all ranks have closed: the very last, after a process has told what it found
 * out, because it may not come back. Open MPI 4 unloads parts whose code its own thread may still
 * run: it dies or hangs about once in a thousand times (its issue 10117). */
void comm_end(void);

int comm_rank(const Comm *comm);
int comm_ranks(const Comm *comm);
int comm_local_rank(const Comm *comm); /* among those of this machine */
bool comm_is_local(const Comm *comm);  /* all ranks are on this machine */
/* ST_FAILED: the launcher started another number of ranks. */
Status comm_check_ranks(const Comm *comm, int64_t ranks);
/* "shared memory", "messages", or on GPUs "NCCL": how the bytes go from rank to rank. */
const char *comm_path(const Comm *comm);
/* Of this rank; 0: it shares them with other ranks. */
int comm_processors(const Comm *comm);
/* "Open MPI v4.1.4" */
const char *comm_library_version(const Comm *comm);

/* ---- ranks on GPUs: comm/nccl_comm.h ---- */

/* So many ranks use the GPU of this one; `shared`: so do ranks somewhere. */
void comm_gpu_share(Comm *comm, int ranks, bool shared);
/* At least 1. */
int comm_gpu_ranks(const Comm *comm);
/* Opens NCCL on this device, in all ranks. */
Status comm_gpu_join(Comm *comm, int device);
/* In all ranks, when all graphs are dropped; before the device is closed. NULL: nothing. */
void comm_gpu_leave(Comm *comm);
/* NULL: the ranks have not joined GPUs. */
struct NcclComm *comm_gpu_nccl(const Comm *comm);

/* ---- collectives on memory of the CPU ---- */

Status comm_barrier(Comm *comm);
/* Before a collective that other ranks may come to much later: waits for them asleep, and leaves the core to
 * others. By messages it waits in the collective. */
void comm_meet(Comm *comm);
/* The shard of a rank: plan/shard.h. fp32, bf16, fp16 and fp64; a sum is multiplied by `scale` (1 over the
 * number of ranks makes it a mean) and rounded once. */
Status comm_all_reduce(Comm *comm, const void *in, void *out, int64_t count, DType dtype,
                       float scale);
Status comm_reduce_scatter(Comm *comm, const void *in, void *out, int64_t count, DType dtype,
                           float scale);
Status comm_all_gather(Comm *comm, const void *in, void *out, int64_t count, DType dtype);
Status comm_broadcast(Comm *comm, void *data, size_t bytes, int root);
/* Each x[i] becomes the largest of all ranks. */
Status comm_largest(Comm *comm, double *x, int n);

/* An array of this rank that the others see: collectives in place on it, or on part of it at the
 * same place in all ranks, move every byte once. All ranks ask for the same size. It goes with
 * the communicator. NULL: there is none to be had, and ordinary memory serves as well. */
void *comm_share(Comm *comm, size_t bytes);

/* A collective on an array of `count` elements in place: a shard goes from and to its place in the array, the
 * broadcast is rank 0's. `plain`: by one call of the MPI library, to compare with. */
Status comm_collective(Comm *comm, Collective op, bool plain, void *data, int64_t count,
                       DType dtype);
