#include "comm/comm_library.h"
#include "comm/comm_parts.h"
#include "comm/rank_cores.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Bytes of one chunk of all ranks. In shared memory it is to stay in caches on its way; messages
 * may be longer. */
enum { WINDOW_CHUNK = 512 << 10, MESSAGE_CHUNK = 16 << 20, SHARED_FROM = 16 << 10, LINE = 64 };

static size_t segment_of(size_t chunk, int ranks)
{
    return (chunk / (size_t)ranks + LINE - 1) / LINE * LINE;
}

/* Returns the status that a collective ended with. */
static Status leave(Status status)
{
    comm_activity_enter(COMM_OUTSIDE);
    return status;
}

/* ---- begin and end ---- */

static const MpiEngine *begun; /* MPI is, and not ended */

static void add_bf16(void *sum, const void *x, int n)
{
    float wide[ROWS_CHUNK];
    for (int at = 0; at < n; at += ROWS_CHUNK) {
        const int m = n - at < ROWS_CHUNK ? n - at : ROWS_CHUNK;
        void *to = rows_cpu_at(sum, DT_BF16, at);
        rows_cpu_load(wide, to, DT_BF16, m);
        rows_cpu_add_row(wide, rows_cpu_at(x, DT_BF16, at), DT_BF16, m);
        rows_cpu_store(to, wide, DT_BF16, m);
    }
}

/* ROOFSTEP_COMM=messages: as ranks on several machines do, for tests. */
static bool may_share(const MpiPlace *place)
{
    const char *asked = getenv("ROOFSTEP_COMM");
    return place->local_ranks == place->ranks && place->ranks <= SHARED_WINDOW_RANKS &&
           !(asked && strcmp(asked, "messages") == 0);
}

static Status open_window(Comm *comm)
{
    SharedWindow *w = &comm->window;
    void *bases[SHARED_WINDOW_RANKS];
    *w = (SharedWindow){.rank = comm->place.rank,
                        .ranks = comm->place.ranks,
                        .segment = segment_of(WINDOW_CHUNK, comm->place.ranks),
                        .yields = comm->processors == 0};
    TRY(messages_check(comm->engine,
                       comm->engine->window_open(shared_window_bytes(w->ranks, w->segment), bases),
                       "cannot share memory between ranks"));
    for (int r = 0; r < w->ranks; r++) w->base[r] = bases[r];
    shared_window_init(w);
    return messages_check(comm->engine, comm->engine->barrier(), "barrier");
}

static Status open_messages(Comm *comm)
{
    comm->messages = (Messages){.engine = comm->engine,
                                .rank = comm->place.rank,
                                .ranks = comm->place.ranks,
                                .segment = segment_of(MESSAGE_CHUNK, comm->place.ranks)};
    return messages_init(&comm->messages);
}

static Status begin(Comm *comm)
{
    TRY(comm_library(&comm->engine));
    comm->engine->library_version(comm->version);
    TRY(messages_check(comm->engine, comm->engine->init(add_bf16, &comm->place), "cannot begin"));
    begun = comm->engine;
    comm->processors = rank_cores_bind(comm->place.local_rank, comm->place.local_ranks);
    comm->shares = may_share(&comm->place);
    comm->counts = malloc(2 * (size_t)comm->place.ranks * sizeof *comm->counts);
    if (!comm->counts) return NO_MEMORY("for %d ranks", comm->place.ranks);
    comm->firsts = comm->counts + comm->place.ranks;
    return comm->shares ? open_window(comm) : open_messages(comm);
}

Status comm_open(Comm **out)
{
    Comm *comm = calloc(1, sizeof *comm);
    if (!comm) return NO_MEMORY("for a communicator");
    comm_activity_enter(COMM_STARTS);
    const Status status = begin(comm);
    comm_activity_enter(COMM_OUTSIDE);
    if (status == ST_OK) {
        *out = comm;
        return ST_OK;
    }
    /* The process ends, and MPI with it: to end MPI here would wait for the other ranks. */
    free(comm->counts);
    free(comm);
    return status;
}

void comm_close(Comm *comm)
{
    if (!comm) return;
    comm_activity_enter(COMM_COLLECTIVE);
    (void)(comm->shares ? comm->engine->windows_close() : comm->engine->barrier());
    comm_activity_enter(COMM_OUTSIDE);
    for (int i = 0; i < comm->n_arrays; i++) free(comm->arrays[i]);
    messages_free(&comm->messages);
    free(comm->counts);
    free(comm);
}

void comm_end(void)
{
    if (begun) (void)begun->finalize();
    begun = NULL;
}

int comm_rank(const Comm *comm)
{
    return comm->place.rank;
}

int comm_ranks(const Comm *comm)
{
    return comm->place.ranks;
}

int comm_local_rank(const Comm *comm)
{
    return comm->place.local_rank;
}

bool comm_is_local(const Comm *comm)
{
    return comm->place.local_ranks == comm->place.ranks;
}

Status comm_check_ranks(const Comm *comm, int64_t ranks)
{
    if (comm->place.ranks == ranks) return ST_OK;
    return FAIL(ST_FAILED,
                "the launcher started %d ranks instead of %d; --launcher may name another one",
                comm->place.ranks, (int)ranks);
}

const char *comm_path(const Comm *comm)
{
    if (comm->nccl) return comm->gpus_shared ? "NCCL over sockets, one GPU shared" : "NCCL";
    return comm->shares ? "shared memory" : "messages";
}

int comm_processors(const Comm *comm)
{
    return comm->processors;
}

const char *comm_library_version(const Comm *comm)
{
    return comm->version;
}

/* ---- arrays that all see ---- */

/* MPI would wait for ever in the other ranks if one had no room for it. The rest is left to
 * MPI's own messages. */
static bool has_room(const Comm *comm, size_t bytes)
{
    struct statvfs room;
    const char *folder = getenv("OMPI_MCA_osc_sm_backing_directory");
    if (statvfs(folder ? folder : "/dev/shm", &room) != 0) return false;
    return 2.0 * (double)bytes * comm->place.ranks < (double)room.f_bavail * (double)room.f_frsize;
}

void *comm_share(Comm *comm, size_t bytes)
{
    void *bases[SHARED_WINDOW_RANKS];
    SharedArray *array = calloc(1, sizeof *array);
    double refused = !array || !comm->shares || comm->n_arrays == MPI_ENGINE_WINDOWS - 1 ||
                     !has_room(comm, bytes);
    if (comm_largest(comm, &refused, 1) != ST_OK || refused > 0 ||
        comm->engine->window_open(bytes, bases) != 0) {
        free(array);
        return NULL;
    }
    array->bytes = bytes;
    for (int r = 0; r < comm->place.ranks; r++) array->base[r] = bases[r];
    comm->arrays[comm->n_arrays++] = array;
    return bases[comm->place.rank];
}

/* The shared array that this is part of; NULL: none, or it is so short that one barrier more
 * takes longer than what it saves. */
static const SharedArray *array_with(const Comm *comm, const void *data, size_t bytes)
{
    for (int i = 0; bytes >= SHARED_FROM && i < comm->n_arrays; i++) {
        if (shared_array_has(comm->arrays[i], comm->place.rank, data, bytes))
            return comm->arrays[i];
    }
    return NULL;
}

/* ---- collectives ---- */

void comm_meet(Comm *comm)
{
    comm_activity_enter(COMM_COLLECTIVE);
    if (comm->shares) shared_window_meet(&comm->window);
    comm_activity_enter(COMM_OUTSIDE);
}

Status comm_barrier(Comm *comm)
{
    comm_activity_enter(COMM_COLLECTIVE);
    if (!comm->shares)
        return leave(messages_check(comm->engine, comm->engine->barrier(), "barrier"));
    shared_window_barrier(&comm->window);
    return leave(ST_OK);
}

Status comm_all_reduce(Comm *comm, const void *in, void *out, int64_t count, DType dtype,
                       float scale)
{
    comm_activity_enter(COMM_COLLECTIVE);
    if (!comm->shares)
        return leave(messages_all_reduce(&comm->messages, in, out, count, dtype, scale));
    const SharedArray *array =
        in == out ? array_with(comm, out, (size_t)count * plan_dtype_size(dtype)) : NULL;
    if (array)
        shared_array_all_reduce(&comm->window, array, out, count, dtype, scale);
    else
        shared_window_all_reduce(&comm->window, in, out, count, dtype, scale);
    return leave(ST_OK);
}

Status comm_reduce_scatter(Comm *comm, const void *in, void *out, int64_t count, DType dtype,
                           float scale)
{
    comm_activity_enter(COMM_COLLECTIVE);
    if (!comm->shares)
        return leave(messages_reduce_scatter(&comm->messages, in, out, count, dtype, scale));
    const SharedArray *array = array_with(comm, in, (size_t)count * plan_dtype_size(dtype));
    if (array)
        shared_array_reduce_scatter(&comm->window, array, in, out, count, dtype, scale);
    else
        shared_window_reduce_scatter(&comm->window, in, out, count, dtype, scale);
    return leave(ST_OK);
}

Status comm_all_gather(Comm *comm, const void *in, void *out, int64_t count, DType dtype)
{
    comm_activity_enter(COMM_COLLECTIVE);
    if (!comm->shares) return leave(messages_all_gather(&comm->messages, in, out, count, dtype));
    const SharedArray *array = array_with(comm, out, (size_t)count * plan_dtype_size(dtype));
    if (array)
        shared_array_all_gather(&comm->window, array, in, out, count, dtype);
    else
        shared_window_all_gather(&comm->window, in, out, count, dtype);
    return leave(ST_OK);
}

Status comm_broadcast(Comm *comm, void *data, size_t bytes, int root)
{
    comm_activity_enter(COMM_COLLECTIVE);
    if (!comm->shares) return leave(messages_broadcast(&comm->messages, data, bytes, root));
    const SharedArray *array = array_with(comm, data, bytes);
    if (array)
        shared_array_broadcast(&comm->window, array, data, bytes, root);
    else
        shared_window_broadcast(&comm->window, data, bytes, root);
    return leave(ST_OK);
}

Status comm_largest(Comm *comm, double *x, int n)
{
    comm_activity_enter(COMM_COLLECTIVE);
    return leave(messages_check(comm->engine, comm->engine->largest(x, n), "largest of all ranks"));
}

/* ---- one array in place ---- */

static Status plain_collective(Comm *comm, Collective op, void *data, int64_t count, int size)
{
    const MpiEngine *engine = comm->engine;
    if (count > INT_MAX)
        return FAIL(ST_UNSUPPORTED, "MPI's own call takes at most %d elements", INT_MAX);
    for (int r = 0; r < comm->place.ranks; r++) {
        const Shard shard = shard_of(count, comm->place.ranks, r);
        comm->counts[r] = (int)shard.count;
        comm->firsts[r] = (int)shard.first;
    }
    comm_activity_enter(COMM_COLLECTIVE);
    const int code = op == COLLECTIVE_ALL_REDUCE ? engine->plain_all_reduce(data, (int)count, size)
                     : op == COLLECTIVE_ALL_GATHER
                         ? engine->plain_all_gather(data, comm->counts, comm->firsts, size)
                     : op == COLLECTIVE_REDUCE_SCATTER
                         ? engine->plain_reduce_scatter(data, comm->counts, size)
                         : engine->plain_broadcast(data, (int)count, size);
    return leave(messages_check(engine, code, config_collectives[op]));
}

Status comm_collective(Comm *comm, Collective op, bool plain, void *data, int64_t count,
                       DType dtype)
{
    const size_t size = plan_dtype_size(dtype);
    char *own =
        (char *)data + (size_t)shard_of(count, comm->place.ranks, comm->place.rank).first * size;
    if (plain) return plain_collective(comm, op, data, count, (int)size);
    switch (op) {
    case COLLECTIVE_ALL_REDUCE:
        return comm_all_reduce(comm, data, data, count, dtype, 1);
    case COLLECTIVE_ALL_GATHER:
        return comm_all_gather(comm, own, data, count, dtype);
    case COLLECTIVE_REDUCE_SCATTER:
        return comm_reduce_scatter(comm, data, own, count, dtype, 1);
    case COLLECTIVE_BROADCAST:
        return comm_broadcast(comm, data, (size_t)count * size, 0);
    case COLLECTIVE_COUNT:
        break;
    }
    return FAIL(ST_FAILED, "there is no collective %d", (int)op);
}
