/* An NCCL that moves nothing and notes its calls: addresses as numbers, counts, types, ops, roots. */
#include <nccl.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#pragma GCC visibility push(default)

char fake_nccl_log[4096];
ncclResult_t fake_nccl_async = ncclSuccess;

__attribute__((format(printf, 1, 2))) static ncclResult_t note(const char *fmt, ...)
{
    va_list args;
    const size_t n = strlen(fake_nccl_log);
    va_start(args, fmt);
    vsnprintf(fake_nccl_log + n, sizeof fake_nccl_log - n, fmt, args);
    va_end(args);
    return ncclSuccess;
}

static int at(const void *address)
{
    return (int)(intptr_t)address;
}

ncclResult_t ncclGetVersion(int *version)
{
    *version = 22809;
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    id->internal[0] = 'i';
    return note("id ");
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    *comm = (ncclComm_t)(intptr_t)1;
    return note("init %d of %d %c ", rank, ranks, id.internal[0]);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    return note("destroy %d ", at(comm));
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    (void)comm;
    *error = fake_nccl_async;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t code)
{
    return code == ncclRemoteError ? "remote error" : "some error";
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm)
{
    (void)comm;
    *op = (ncclRedOp_t)9;
    if (residence != ncclScalarHostImmediate) return ncclInvalidArgument;
    if (type == ncclFloat32) return note("op %g ", (double)*(const float *)scalar);
    if (type == ncclFloat64) return note("op %g ", *(const double *)scalar);
    return note("op %04x ", *(const uint16_t *)scalar);
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
    (void)comm;
    return note("end %d ", (int)op);
}

ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)comm;
    return note("all %d>%d x%zu t%d o%d s%d ", at(in), at(out), count, type, op, at(stream));
}

ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)comm;
    return note("scatter %d>%d x%zu t%d o%d s%d ", at(in), at(out), count, type, op, at(stream));
}

ncclResult_t ncclAllGather(const void *in, void *out, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    (void)comm;
    return note("gather %d>%d x%zu t%d s%d ", at(in), at(out), count, type, at(stream));
}

ncclResult_t ncclReduce(const void *in, void *out, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    (void)comm;
    return note("reduce %d>%d x%zu t%d o%d r%d s%d ", at(in), at(out), count, type, op, root,
                at(stream));
}

ncclResult_t ncclBroadcast(const void *in, void *out, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream)
{
    (void)comm;
    return note("broadcast %d>%d x%zu t%d r%d s%d ", at(in), at(out), count, type, root,
                at(stream));
}

ncclResult_t ncclGroupStart(void)
{
    return note("( ");
}

ncclResult_t ncclGroupEnd(void)
{
    return note(") ");
}
