/* An export of several ranks: what they have is put together to what one with all their batches has. All
 * ranks call these, each with a file of its own. */
#pragma once

#include "comm/comm.h"
#include "report/export/safetensors.h"

/* Writes `bytes` of rows of every rank: of each micro-batch, those of rank 0, then those of rank 1. `comm`
 * NULL: there is one. */
Status export_ranks_rows(Safetensors *file, Comm *comm, int64_t micro_batches, const void *own,
                         size_t bytes);
/* The fp32 number becomes its mean over all ranks. */
Status export_ranks_mean(Comm *comm, void *number);
