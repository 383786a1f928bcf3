/* What the trace of a rank has beside one of a single process: who it is, what it sends; and the traces of
 * all ranks as one. */
#pragma once

#include "base/text.h"
#include "comm/comm.h"

typedef struct TraceProcess {
    char s[24];
} TraceProcess;

/* "rank 1"; "roofstep" where there is one process (`comm` is NULL). */
TraceProcess trace_ranks_process(const Comm *comm);
/* The line that HTA looks for. */
void trace_ranks_info(Text *t, const Comm *comm);
/* Arguments of a collective's slice, after others: those of PyTorch's traces, and its tensor. */
void trace_ranks_collective(Text *t, const Plan *plan, int node);

/* Ranks as processes on one time axis, for viewers that take one file: out of the traces of `n` ranks at
 * trace_ranks_path(folder, ...). ST_IO: one of them cannot be read. */
Status trace_ranks_merge(const char *path, const char *folder, int n);
/* "FOLDER/rank-3.json.gz" */
Status trace_ranks_path(const char *folder, int rank, char *path, size_t size);
