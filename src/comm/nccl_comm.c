#include "comm/nccl_comm.h"

#include "backend/cuda_backend.h"
#include "base/float16.h"
#include "comm/shard_pieces.h"

#include <nccl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libnccl.so.2"
#define INSTALL                                                                   \
    "install NVIDIA's libnccl2, or name the file in ROOFSTEP_NCCL; --device cpu " \
    "does without"

/* ---- the library ---- */

/* What is called of it, without the prefix. All of them are there since 2.11. */
#define FUNCTIONS(FUNCTION)        \
    FUNCTION(GetVersion)           \
    FUNCTION(GetUniqueId)          \
    FUNCTION(CommInitRank)         \
    FUNCTION(CommDestroy)          \
    FUNCTION(CommGetAsyncError)    \
    FUNCTION(GetErrorString)       \
    FUNCTION(RedOpCreatePreMulSum) \
    FUNCTION(RedOpDestroy)         \
    FUNCTION(AllReduce)            \
    FUNCTION(ReduceScatter)        \
    FUNCTION(AllGather)            \
    FUNCTION(Reduce)               \
    FUNCTION(Broadcast)            \
    FUNCTION(GroupStart)           \
    FUNCTION(GroupEnd)

static struct {
#define FUNCTION(name) __typeof__(nccl##name) *name;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
    __typeof__(ncclGetLastError) *GetLastError; /* NULL in older ones */
} lib;

/* ISO C has no cast from an object's address to a function's. */
static bool find(void *library, const char *symbol, void *function, size_t size)
{
    void *const address = dlsym(library, symbol);
    memcpy(function, &address, size);
    return address != NULL;
}

static Status load(void)
{
    static bool loaded;
    if (loaded) return ST_OK;
    const char *own = getenv("ROOFSTEP_NCCL");
    void *library = dlopen(own && *own ? own : LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *why = library ? NULL : dlerror();
    if (!library)
        return FAIL(ST_UNSUPPORTED,
                    "ranks on GPUs need NCCL, which cannot be loaded (%s): " INSTALL,
                    why ? why : "no reason given");
    bool whole = true;
#define FUNCTION(name) whole = find(library, "nccl" #name, &lib.name, sizeof lib.name) && whole;
    FUNCTIONS(FUNCTION)
#undef FUNCTION
    (void)find(library, "ncclGetLastError", &lib.GetLastError, sizeof lib.GetLastError);
    if (!whole)
        return FAIL(ST_UNSUPPORTED,
                    "ranks on GPUs need NCCL 2.11 or newer, and " LIBRARY " is older: " INSTALL);
    loaded = true;
    return ST_OK;
}

/* 22809 -> 2.28.9 */
static void put_version(char text[NCCL_COMM_TEXT])
{
    int number = 0;
    (void)lib.GetVersion(&number);
    snprintf(text, NCCL_COMM_TEXT, "%d.%d.%d", number / 10000, number % 10000 / 100, number % 100);
}

bool nccl_comm_describe(char text[NCCL_COMM_TEXT])
{
    if (load() != ST_OK) {
        snprintf(text, NCCL_COMM_TEXT, "%s", status_message());
        return false;
    }
    put_version(text);
    return true;
}

/* ---- begin and end ---- */

struct NcclComm {
    ncclComm_t comm;
    int rank, ranks;
    bool shared;
    char version[NCCL_COMM_TEXT];
};

static Status check(const NcclComm *n, ncclResult_t code, const char *what)
{
    if (code == ncclSuccess) return ST_OK;
    const char *more = lib.GetLastError ? lib.GetLastError(n->comm) : "";
    return FAIL(ST_DEVICE, "NCCL: %s (%s)%s%s", lib.GetErrorString(code), what,
                more && *more ? ": " : "", more ? more : "");
}

/* NCCL refuses two ranks on one GPU of one machine. Between machines it goes over sockets, which on one are
 * those of its own interface. */
static Status pretend_machines(const Comm *comm)
{
    char word[32];
    snprintf(word, sizeof word, "roofstep-rank-%d", comm_rank(comm));
    if (setenv("NCCL_HOSTID", word, 1) != 0 || setenv("NCCL_IB_DISABLE", "1", 0) != 0 ||
        (comm_is_local(comm) && setenv("NCCL_SOCKET_IFNAME", "lo", 0) != 0))
        return NO_MEMORY("for the environment of NCCL");
    return ST_OK;
}

static Status begin(NcclComm *n, Comm *comm, int device)
{
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    TRY(load());
    put_version(n->version);
    if (n->shared) TRY(pretend_machines(comm)); /* before NCCL reads it */
    TRY_CUDA(cudaSetDevice(device));
    if (n->rank == 0) TRY(check(n, lib.GetUniqueId(&id), "making the id of the ranks"));
    TRY(comm_broadcast(comm, &id, sizeof id, 0));
    return check(n, lib.CommInitRank(&n->comm, n->ranks, id, n->rank), "joining the ranks");
}

Status nccl_comm_open(NcclComm **out, Comm *comm, int device, bool shared)
{
    NcclComm *n = calloc(1, sizeof *n);
    if (!n) return NO_MEMORY("for a communicator");
    n->rank = comm_rank(comm);
    n->ranks = comm_ranks(comm);
    n->shared = shared;
    const Status status = begin(n, comm, device);
    if (status == ST_OK)
        *out = n;
    else
        free(n); /* the process ends, and with it what NCCL has */
    return status;
}

void nccl_comm_close(NcclComm *n)
{
    if (!n) return;
    (void)cudaDeviceSynchronize();
    (void)lib.CommDestroy(n->comm);
    free(n);
}

const char *nccl_comm_version(const NcclComm *n)
{
    return n->version;
}

/* ---- calls ---- */

/* Of a call that has been queued: it may say what became of those before it. */
static Status queued(const NcclComm *n, ncclResult_t code, const char *what)
{
    ncclResult_t before = ncclSuccess;
    TRY(check(n, code, what));
    TRY(check(n, lib.CommGetAsyncError(n->comm, &before), what));
    return check(n, before, "a collective before this one");
}

/* Several calls as one. The group ends whatever became of them. */
static Status group(const NcclComm *n, Status (*calls)(void *self), void *self, const char *what)
{
    TRY(check(n, lib.GroupStart(), what));
    const Status status = calls(self);
    const ncclResult_t end = lib.GroupEnd();
    TRY(status);
    return queued(n, end, what);
}

typedef struct Sum {
    const NcclComm *n;
    ncclDataType_t type;
    ncclRedOp_t op;
    bool made; /* the op is this sum's own */
} Sum;

static Status find_type(Sum *sum, DType dtype)
{
    switch (dtype) {
    case DT_F32:
        sum->type = ncclFloat32;
        return ST_OK;
    case DT_BF16:
        sum->type = ncclBfloat16;
        return ST_OK;
    case DT_F16:
        sum->type = ncclFloat16;
        return ST_OK;
    case DT_F64:
        sum->type = ncclFloat64;
        return ST_OK;
    default:
        return FAIL(ST_UNSUPPORTED, "NCCL adds no elements of %s", plan_dtype_name(dtype));
    }
}

/* In the dtype of the elements. */
static Status make_op(Sum *sum, float scale)
{
    double f64 = (double)scale;
    uint16_t bf16 = float16_to_bf16(scale), f16 = float16_to_f16(scale);
    void *const scalar = sum->type == ncclFloat32    ? (void *)&scale
                         : sum->type == ncclFloat64  ? (void *)&f64
                         : sum->type == ncclBfloat16 ? (void *)&bf16
                                                     : (void *)&f16;
    sum->made = true;
    return check(sum->n,
                 lib.RedOpCreatePreMulSum(&sum->op, scalar, sum->type, ncclScalarHostImmediate,
                                          sum->n->comm),
                 "making a scaled sum");
}

static Status check_joined(const NcclComm *n)
{
    return n ? ST_OK : FAIL(ST_FAILED, "the ranks of a GPU plan have not joined their GPUs");
}

static Status sum_begin(Sum *sum, const NcclComm *n, DType dtype, float scale)
{
    TRY(check_joined(n));
    *sum = (Sum){.n = n, .op = ncclSum};
    TRY(find_type(sum, dtype));
    if (scale == 1) return ST_OK;
    if (scale != (float)(1 / (double)n->ranks)) return make_op(sum, scale);
    sum->op = ncclAvg;
    return ST_OK;
}

/* The op has been read when the call that has it returns. */
static Status sum_end(const Sum *sum, Status status)
{
    if (!sum->made) return status;
    const ncclResult_t code = lib.RedOpDestroy(sum->op, sum->n->comm);
    return status == ST_OK ? check(sum->n, code, "ending a scaled sum") : status;
}

Status nccl_comm_all_reduce(NcclComm *n, Backend *be, const void *in, void *out, int64_t count,
                            DType dtype, float scale)
{
    Sum sum;
    if (count == 0) return ST_OK;
    TRY(sum_begin(&sum, n, dtype, scale));
    return sum_end(
        &sum,
        queued(n, lib.AllReduce(in, out, (size_t)count, sum.type, sum.op, n->comm, be->stream),
               "all_reduce"));
}

/* ---- shards ---- */

/* An array, in elements of `size` bytes, and this rank's shard of it. */
typedef struct Sharded {
    const NcclComm *n;
    cudaStream_t stream;
    const Sum *sum;
    const char *in;
    char *out;
    int64_t count;
    size_t size;
} Sharded;

static bool is_even(const Sharded *s)
{
    return s->n->ranks * shard_of(s->count, s->n->ranks, 0).count == s->count;
}

/* Every shard to the rank that owns it. */
static Status reduce_each(void *self)
{
    const Sharded *s = self;
    const NcclComm *n = s->n;
    for (int r = 0; r < n->ranks; r++) {
        const Shard shard = shard_of(s->count, n->ranks, r);
        if (shard.count == 0) continue;
        TRY(check(n,
                  lib.Reduce(s->in + (size_t)shard.first * s->size, r == n->rank ? s->out : NULL,
                             (size_t)shard.count, s->sum->type, s->sum->op, r, n->comm, s->stream),
                  "reduce_scatter"));
    }
    return ST_OK;
}

Status nccl_comm_reduce_scatter(NcclComm *n, Backend *be, const void *in, void *out, int64_t count,
                                DType dtype, float scale)
{
    Sum sum;
    Sharded s = {n, be->stream, &sum, in, out, count, plan_dtype_size(dtype)};
    if (count == 0) return ST_OK;
    TRY(sum_begin(&sum, n, dtype, scale));
    if (!is_even(&s)) return sum_end(&sum, group(n, reduce_each, &s, "reduce_scatter"));
    return sum_end(&sum, queued(n,
                                lib.ReduceScatter(in, out, (size_t)(count / n->ranks), sum.type,
                                                  sum.op, n->comm, s.stream),
                                "reduce_scatter"));
}

/* Every shard from the rank that owns it, as bytes. */
static Status broadcast_each(void *self)
{
    const Sharded *s = self;
    const NcclComm *n = s->n;
    for (int r = 0; r < n->ranks; r++) {
        const Shard shard = shard_of(s->count, n->ranks, r);
        char *to = s->out + (size_t)shard.first * s->size;
        if (shard.count == 0) continue;
        TRY(check(n,
                  lib.Broadcast(r == n->rank ? s->in : to, to, (size_t)shard.count * s->size,
                                ncclUint8, r, n->comm, s->stream),
                  "all_gather"));
    }
    return ST_OK;
}

Status nccl_comm_all_gather(NcclComm *n, Backend *be, const void *in, void *out, int64_t count,
                            DType dtype)
{
    Sharded s = {n, be->stream, NULL, in, out, count, plan_dtype_size(dtype)};
    TRY(check_joined(n));
    if (count == 0) return ST_OK;
    if (!is_even(&s)) return group(n, broadcast_each, &s, "all_gather");
    return queued(
        n,
        lib.AllGather(in, out, (size_t)(count / n->ranks) * s.size, ncclUint8, n->comm, s.stream),
        "all_gather");
}

Status nccl_comm_broadcast(NcclComm *n, Backend *be, void *data, size_t bytes, int root)
{
    TRY(check_joined(n));
    if (bytes == 0) return ST_OK;
    return queued(n, lib.Broadcast(data, data, bytes, ncclUint8, root, n->comm, be->stream),
                  "broadcast");
}

Status nccl_comm_collective(NcclComm *n, Backend *be, Collective op, void *data, int64_t count,
                            DType dtype)
{
    const size_t size = plan_dtype_size(dtype);
    char *own = (char *)data + (size_t)shard_of(count, n->ranks, n->rank).first * size;
    switch (op) {
    case COLLECTIVE_ALL_REDUCE:
        return nccl_comm_all_reduce(n, be, data, data, count, dtype, 1);
    case COLLECTIVE_ALL_GATHER:
        return nccl_comm_all_gather(n, be, own, data, count, dtype);
    case COLLECTIVE_REDUCE_SCATTER:
        return nccl_comm_reduce_scatter(n, be, data, own, count, dtype, 1);
    case COLLECTIVE_BROADCAST:
        return nccl_comm_broadcast(n, be, data, (size_t)count * size, 0);
    case COLLECTIVE_COUNT:
        break;
    }
    return FAIL(ST_FAILED, "there is no collective %d", (int)op);
}
