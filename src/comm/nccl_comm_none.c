/* This build has no NCCL: it has no CUDA, or nccl.h was not found. */
#include "comm/nccl_comm.h"

#include <stdio.h>

static const char why[] =
    "ranks on GPUs need NCCL, and this program was built without it; install "
    "CUDA and NVIDIA's libnccl2 and libnccl-dev and build again, or use --device cpu";

Status nccl_comm_open(NcclComm **out, Comm *comm, int device, bool shared)
{
    (void)comm;
    (void)device;
    (void)shared;
    *out = NULL;
    return FAIL(ST_UNSUPPORTED, "%s", why);
}

void nccl_comm_close(NcclComm *nccl)
{
    (void)nccl;
}

bool nccl_comm_describe(char text[NCCL_COMM_TEXT])
{
    snprintf(text, NCCL_COMM_TEXT, "%s", why);
    return false;
}

const char *nccl_comm_version(const NcclComm *nccl)
{
    (void)nccl;
    return "";
}

Status nccl_comm_all_reduce(NcclComm *nccl, Backend *be, const void *in, void *out, int64_t count,
                            DType dtype, float scale)
{
    (void)nccl;
    (void)be;
    (void)in;
    (void)out;
    (void)count;
    (void)dtype;
    (void)scale;
    return FAIL(ST_UNSUPPORTED, "%s", why);
}

Status nccl_comm_reduce_scatter(NcclComm *nccl, Backend *be, const void *in, void *out,
                                int64_t count, DType dtype, float scale)
{
    return nccl_comm_all_reduce(nccl, be, in, out, count, dtype, scale);
}

Status nccl_comm_all_gather(NcclComm *nccl, Backend *be, const void *in, void *out, int64_t count,
                            DType dtype)
{
    return nccl_comm_all_reduce(nccl, be, in, out, count, dtype, 1);
}

Status nccl_comm_broadcast(NcclComm *nccl, Backend *be, void *data, size_t bytes, int root)
{
    (void)root;
    return nccl_comm_all_reduce(nccl, be, data, data, (int64_t)bytes, DT_F32, 1);
}

Status nccl_comm_collective(NcclComm *nccl, Backend *be, Collective op, void *data, int64_t count,
                            DType dtype)
{
    (void)op;
    return nccl_comm_all_reduce(nccl, be, data, data, count, dtype, 1);
}
