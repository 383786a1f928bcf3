/* The shared object roofstep_mpi.so: MPI behind the functions of mpi_engine.h. */
#include "comm/mpi_engine.h"

#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TRY_MPI(call)                           \
    do {                                        \
        const int code_ = (call);               \
        if (code_ != MPI_SUCCESS) return code_; \
    } while (0)

static MPI_Comm world, node; /* copies of our own; node: the ranks that share memory */
static MPI_Op sum_bf16;
static MPI_Win windows[MPI_ENGINE_WINDOWS];
static int n_windows;
static MpiAddBf16 *add_bf16;

/* ---- begin and end ---- */

static void add_elements(void *in, void *sum, int *n, MPI_Datatype *type)
{
    (void)type;
    add_bf16(sum, in, *n);
}

static int make_comms(MpiPlace *place)
{
    TRY_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    TRY_MPI(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    TRY_MPI(MPI_Comm_rank(world, &place->rank));
    TRY_MPI(MPI_Comm_size(world, &place->ranks));
    TRY_MPI(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &node));
    TRY_MPI(MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN));
    TRY_MPI(MPI_Comm_rank(node, &place->local_rank));
    return MPI_Comm_size(node, &place->local_ranks);
}

/* One thread at a time calls it: the step's, or the one of communication. */
static int init(MpiAddBf16 *add, MpiPlace *place)
{
    int given = 0;
    add_bf16 = add;
    TRY_MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given));
    TRY_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    TRY_MPI(make_comms(place));
    return MPI_Op_create(add_elements, true, &sum_bf16);
}

/* What cannot be freed does not keep MPI from ending: a process that ends before it is taken for dead. */
static int finalize(void)
{
    (void)MPI_Op_free(&sum_bf16);
    (void)MPI_Comm_free(&node);
    (void)MPI_Comm_free(&world);
    return MPI_Finalize();
}

static void one_line(char *text)
{
    text[strcspn(text, "\r\n")] = '\0';
}

static void error_text(int code, char text[MPI_ENGINE_TEXT])
{
    char message[MPI_MAX_ERROR_STRING];
    int n = 0;
    if (MPI_Error_string(code, message, &n) != MPI_SUCCESS) n = 0;
    snprintf(text, MPI_ENGINE_TEXT, "%.*s", n, message);
    one_line(text);
}

static void library_version(char text[MPI_ENGINE_TEXT])
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0;
    if (MPI_Get_library_version(version, &n) != MPI_SUCCESS) n = 0;
    snprintf(text, MPI_ENGINE_TEXT, "%.*s", n, version);
    text[strcspn(text, ",\r\n")] = '\0'; /* "Open MPI v4.1.4, package: ..." */
}

/* ---- what is shared ---- */

static int barrier(void)
{
    return MPI_Barrier(world);
}

/* Each rank's part begins on a page of its own. The windows are read and written as ordinary
 * memory, ordered by atomic flags; locked once for all that time, as MPI demands. */
static int window_open(size_t bytes, void **bases)
{
    void *own = NULL;
    int ranks = 0;
    MPI_Info apart;
    MPI_Win window = MPI_WIN_NULL;
    if (n_windows == MPI_ENGINE_WINDOWS) return MPI_ERR_WIN;
    TRY_MPI(MPI_Info_create(&apart));
    TRY_MPI(MPI_Info_set(apart, "alloc_shared_noncontig", "true"));
    TRY_MPI(MPI_Win_allocate_shared((MPI_Aint)bytes, 1, apart, node, &own, &window));
    windows[n_windows++] = window;
    TRY_MPI(MPI_Info_free(&apart));
    TRY_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
    TRY_MPI(MPI_Comm_size(node, &ranks));
    for (int r = 0; r < ranks; r++) {
        MPI_Aint size = 0;
        int unit = 0;
        TRY_MPI(MPI_Win_shared_query(window, r, &size, &unit, &bases[r]));
    }
    return MPI_SUCCESS;
}

static int windows_close(void)
{
    for (; n_windows > 0; n_windows--) {
        TRY_MPI(MPI_Win_unlock_all(windows[n_windows - 1]));
        TRY_MPI(MPI_Win_free(&windows[n_windows - 1]));
    }
    return MPI_SUCCESS;
}

/* ---- bytes between ranks ---- */

static int all_to_all(const void *in, MpiLayout from, void *out, MpiLayout to)
{
    return MPI_Alltoallv(in, from.bytes, from.at, MPI_BYTE, out, to.bytes, to.at, MPI_BYTE, world);
}

static int all_gather(const void *in, int bytes, void *out, MpiLayout to)
{
    return MPI_Allgatherv(in, bytes, MPI_BYTE, out, to.bytes, to.at, MPI_BYTE, world);
}

static int broadcast(void *data, int bytes, int root)
{
    return MPI_Bcast(data, bytes, MPI_BYTE, root, world);
}

static int largest(double *x, int n)
{
    return MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_MAX, world);
}

/* ---- the library's own collectives ---- */

static MPI_Datatype type_of(int size)
{
    return size == 2 ? MPI_UINT16_T : MPI_FLOAT;
}

static MPI_Op sum_of(int size)
{
    return size == 2 ? sum_bf16 : MPI_SUM;
}

static int plain_all_reduce(void *data, int count, int size)
{
    return MPI_Allreduce(MPI_IN_PLACE, data, count, type_of(size), sum_of(size), world);
}

static int plain_reduce_scatter(void *data, const int *count, int size)
{
    return MPI_Reduce_scatter(MPI_IN_PLACE, data, count, type_of(size), sum_of(size), world);
}

static int plain_all_gather(void *data, const int *count, const int *at, int size)
{
    return MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, count, at, type_of(size),
                          world);
}

static int plain_broadcast(void *data, int count, int size)
{
    return MPI_Bcast(data, count, type_of(size), 0, world);
}

__attribute__((visibility("default"))) const MpiEngine mpi_engine = {
    .version = MPI_ENGINE_VERSION,
    .init = init,
    .finalize = finalize,
    .error_text = error_text,
    .library_version = library_version,
    .barrier = barrier,
    .window_open = window_open,
    .windows_close = windows_close,
    .all_to_all = all_to_all,
    .all_gather = all_gather,
    .broadcast = broadcast,
    .largest = largest,
    .plain_all_reduce = plain_all_reduce,
    .plain_reduce_scatter = plain_reduce_scatter,
    .plain_all_gather = plain_all_gather,
    .plain_broadcast = plain_broadcast,
};
