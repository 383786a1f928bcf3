/* What each of the ranks of a cell holds, as it is measured: after initialisation, before and after the
 * first step of the optimizer. */
#pragma once

#include "bench/cell/cell_facts.h"
#include "bench/estimate/memory_rank.h"

typedef struct MemoryRanksWatch {
    const CellOpen *cell;
    MemoryRank rank;
    int optimizer; /* its first node */
    bool stepped;  /* the first step is through */
} MemoryRanksWatch;

/* Before the first step. */
Status memory_ranks_begin(MemoryRanksWatch *watch, const CellOpen *cell);
/* Before each node. */
Status memory_ranks_node(MemoryRanksWatch *watch, int node);
/* After the first step. */
Status memory_ranks_stepped(MemoryRanksWatch *watch);
/* `memory_ranks` of the record. All ranks call it. */
Status memory_ranks_tell(const MemoryRanksWatch *watch);
