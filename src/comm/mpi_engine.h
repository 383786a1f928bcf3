/* What the program has of MPI: the functions of a shared object of its own, roofstep_mpi.so,
 * which alone calls MPI and is opened, after MPI, when ranks are asked for
 * (comm/comm_library.h). So the program starts where there is no MPI.
 *
 * Plain C types only: the two are compiled apart. Each function returns 0 or MPI's error code. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MPI_ENGINE_VERSION = 2, MPI_ENGINE_TEXT = 512, MPI_ENGINE_WINDOWS = 16 };

typedef struct MpiPlace {
    int rank, ranks;
    int local_rank, local_ranks; /* among those that share memory with this one */
} MpiPlace;

/* MPI has no bfloat16: its own reductions add with this. sum[i] += x[i]. */
typedef void MpiAddBf16(void *sum, const void *x, int n);

/* Bytes of each rank and where they begin, for calls in which these differ. */
typedef struct MpiLayout {
    const int *bytes, *at;
} MpiLayout;

typedef struct MpiEngine {
    int version; /* MPI_ENGINE_VERSION */
    int (*init)(MpiAddBf16 *add_bf16, MpiPlace *place);
    int (*finalize)(void);
    void (*error_text)(int code, char text[MPI_ENGINE_TEXT]);
    void (*library_version)(char text[MPI_ENGINE_TEXT]); /* one line; before init, too */

    int (*barrier)(void);
    /* Memory that the ranks of this node share, `bytes` of each; bases[i] is that of local rank i.
     * At most MPI_ENGINE_WINDOWS times. */
    int (*window_open)(size_t bytes, void **bases);
    int (*windows_close)(void); /* all of them */

    int (*all_to_all)(const void *in, MpiLayout from, void *out, MpiLayout to);
    int (*all_gather)(const void *in, int bytes, void *out, MpiLayout to);
    int (*broadcast)(void *data, int bytes, int root);
    int (*largest)(double *x, int n); /* each x[i] becomes the largest of all ranks */

    /* The library's own collectives on elements of 4 bytes (fp32) or 2 (bf16), in place: to
     * compare with. In `count` there is a number for each rank where their parts differ. */
    int (*plain_all_reduce)(void *data, int count, int size);
    int (*plain_reduce_scatter)(void *data, const int *count, int size);
    int (*plain_all_gather)(void *data, const int *count, const int *at, int size);
    int (*plain_broadcast)(void *data, int count, int size);
} MpiEngine;

/* The one symbol of the shared object. */
extern const MpiEngine mpi_engine;
#define MPI_ENGINE_SYMBOL "mpi_engine"
