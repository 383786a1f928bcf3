/* The second queue of a GPU: a stream whose kernels come first where there is room for one of either.
 *
 * A piece of work waits for an event in the first stream, and the first stream for an event after the piece.
 * Inside a capture the same calls become edges of the graph. Its times come from two more events, which in a
 * graph are nodes, recorded at every launch. */
#include "backend/cuda_backend.h"

#include <stdlib.h>

static Status make_piece(CudaPiece *piece)
{
    TRY_CUDA(cudaEventCreate(&piece->begin));
    TRY_CUDA(cudaEventCreate(&piece->end));
    return CUDA_STATUS(cudaEventCreateWithFlags(&piece->done, cudaEventDisableTiming));
}

Status cuda_beside_open(Backend *be, int n)
{
    int least = 0, most = 0;
    if (be->second) return FAIL(ST_FAILED, "cuda: the second queue is open already");
    TRY_CUDA(cudaDeviceGetStreamPriorityRange(&least, &most));
    TRY_CUDA(cudaStreamCreateWithPriority(&be->second, cudaStreamNonBlocking, most));
    TRY_CUDA(cudaEventCreateWithFlags(&be->fork, cudaEventDisableTiming));
    be->pieces = calloc((size_t)n + 1, sizeof *be->pieces);
    if (!be->pieces) return NO_MEMORY("for %d events", 3 * n);
    be->n_pieces = n;
    for (int i = 0; i < n; i++) TRY(make_piece(&be->pieces[i]));
    return ST_OK;
}

void cuda_beside_close(Backend *be)
{
    for (int i = 0; i < be->n_pieces; i++) {
        const CudaPiece *piece = &be->pieces[i];
        if (piece->begin) cudaEventDestroy(piece->begin);
        if (piece->end) cudaEventDestroy(piece->end);
        if (piece->done) cudaEventDestroy(piece->done);
    }
    free(be->pieces);
    if (be->fork) cudaEventDestroy(be->fork);
    if (be->second) cudaStreamDestroy(be->second);
}

/* In a graph a node of its own, not an edge. */
static Status record_time(const Backend *be, cudaEvent_t event)
{
    return CUDA_STATUS(cudaEventRecordWithFlags(
        event, be->second, be->capturing ? cudaEventRecordExternal : cudaEventRecordDefault));
}

Status cuda_beside_begin(Backend *be, int piece)
{
    TRY_CUDA(cudaEventRecord(be->fork, be->first));
    TRY_CUDA(cudaStreamWaitEvent(be->second, be->fork, 0));
    TRY(record_time(be, be->pieces[piece].begin));
    be->stream = be->second;
    return ST_OK;
}

Status cuda_beside_end(Backend *be, int piece)
{
    be->stream = be->first;
    TRY(record_time(be, be->pieces[piece].end));
    return CUDA_STATUS(cudaEventRecord(be->pieces[piece].done, be->second));
}

Status cuda_beside_wait(Backend *be, int piece)
{
    return CUDA_STATUS(cudaStreamWaitEvent(be->first, be->pieces[piece].done, 0));
}

Status cuda_beside_seconds(Backend *be, int piece, double *seconds)
{
    const CudaPiece *p = &be->pieces[piece];
    float ms = 0;
    TRY_CUDA(cudaEventSynchronize(p->end));
    TRY_CUDA(cudaEventElapsedTime(&ms, p->begin, p->end));
    *seconds = (double)ms * 1e-3;
    return ST_OK;
}

Status cuda_beside_sync(const Backend *be)
{
    return be->second ? CUDA_STATUS(cudaStreamSynchronize(be->second)) : ST_OK;
}
