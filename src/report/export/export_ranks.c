#include "report/export/export_ranks.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

Status export_ranks_rows(Safetensors *file, Comm *comm, int64_t micro_batches, const void *own,
                         size_t bytes)
{
    const size_t each = bytes / (size_t)micro_batches;
    if (!comm) return safetensors_data(file, own, bytes);
    CLEANUP(array_free) char *rows = malloc(each);
    if (!rows) return NO_MEMORY("for the rows of another rank");
    for (int64_t i = 0; i < micro_batches; i++) {
        for (int r = 0; r < comm_ranks(comm); r++) {
            if (r == comm_rank(comm)) memcpy(rows, (const char *)own + (size_t)i * each, each);
            TRY(comm_broadcast(comm, rows, each, r));
            TRY(safetensors_data(file, rows, each));
        }
    }
    return ST_OK;
}

Status export_ranks_mean(Comm *comm, void *number)
{
    if (!comm) return ST_OK;
    return comm_all_reduce(comm, number, number, 1, DT_F32, 1 / (float)comm_ranks(comm));
}
