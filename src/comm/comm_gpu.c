#include "comm/comm_parts.h"

void comm_gpu_share(Comm *comm, int ranks, bool shared)
{
    comm->gpu_ranks = ranks;
    comm->gpus_shared = shared;
}

int comm_gpu_ranks(const Comm *comm)
{
    return comm->gpu_ranks > 1 ? comm->gpu_ranks : 1;
}

Status comm_gpu_join(Comm *comm, int device)
{
    comm_activity_enter(COMM_STARTS);
    const Status status = nccl_comm_open(&comm->nccl, comm, device, comm->gpus_shared);
    comm_activity_enter(COMM_OUTSIDE);
    return status;
}

void comm_gpu_leave(Comm *comm)
{
    if (!comm) return;
    comm_activity_enter(COMM_COLLECTIVE);
    nccl_comm_close(comm->nccl);
    comm_activity_enter(COMM_OUTSIDE);
    comm->nccl = NULL;
}

NcclComm *comm_gpu_nccl(const Comm *comm)
{
    return comm->nccl;
}
