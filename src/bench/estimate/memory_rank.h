/* Where the memory of one of the ranks goes that share a step: by plan, and as it was measured. */
#pragma once

#include "prof/memory_profile.h"

#include <jansson.h>

typedef enum MemoryRankFigure {
#define FIGURE(name) MEMORY_RANK_##name,
#include "bench/estimate/memory_rank_figures.def"
    MEMORY_RANK_FIGURES
} MemoryRankFigure;

/* The fullest moment of a step; before the first step; before and after the optimizer. What is alive is
 * that of a later step, what is held that of the first. */
typedef enum MemoryRankMoment {
    MEMORY_RANK_PEAK,
    MEMORY_RANK_INITIAL,
    MEMORY_RANK_BEFORE,
    MEMORY_RANK_AFTER,
    MEMORY_RANK_MOMENTS
} MemoryRankMoment;

typedef struct MemoryRank {
    double mib[MEMORY_RANK_MOMENTS][MEMORY_RANK_FIGURES]; /* NAN: not known */
} MemoryRank;

/* What the plan knows. Without an optimizer there is no moment before and after it. */
Status memory_rank_plan(MemoryRank *rank, const MemoryProfile *profile);
/* Bytes that are filled before the first step or written by nodes before `node`. */
Status memory_rank_written(const MemoryBlocks *blocks, int node, size_t *bytes);

/* All ranks of a cell. */
typedef struct MemoryRanks {
    MemoryRank *list;
    int n;
} MemoryRanks;

/* {"peak": {"parameters_mib": ...}, "initial": ..., "before_optimizer": ..., "after_optimizer": ...}; null
 * where it is not known. */
json_t *memory_rank_json(const MemoryRank *rank);
/* From `memory_ranks` of a record; none where it has none. array_free() frees the list, which has room for
 * one in any case. */
Status memory_rank_read(MemoryRanks *ranks, const json_t *record);
/* One row can stand for all of them: planned the same, and held within half a percent or
 * a huge page, which may reach into what nothing has been written to. */
bool memory_rank_alike(const MemoryRanks *ranks);
/* The largest of every figure. */
MemoryRank memory_rank_largest(const MemoryRanks *ranks);
