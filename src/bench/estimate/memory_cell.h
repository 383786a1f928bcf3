/* Where the memory of a cell goes, from its plan: the mode that was asked for and, beside it, the forward
 * pass alone. */
#pragma once

#include "bench/estimate/memory_rank.h"
#include "bench/limits/placement.h"
#include "bench/record/record.h"
#include "prof/memory_profile.h"

/* What a table over many cells needs of one mode. */
typedef struct MemorySummary {
    MemoryMoment highest, between;
    size_t reserved; /* regions and arena */
} MemorySummary;

typedef struct MemoryCell {
    const Config *config;  /* outlives it */
    const Limits *machine; /* it is planned for, which is another one; NULL: this one */
    bool unsupported;      /* then message says why, and nothing below is set */
    char message[256];
    Placement placement;
    Attention attention; /* what `auto` became */
    int64_t parameters;
    MemorySummary forward, asked;
    MemoryRank rank;                           /* of each of the ranks that share the step */
    const Record *measured, *measured_forward; /* of runs; NULL: it was not run */
    int64_t recomputed_blocks;
    /* of the mode asked for, where it is kept */
    Model model;
    Binding binding;
    MemoryProfile profile;
} MemoryCell;

/* On another machine, whose limits these are; NULL: on this one. `keep`: model, binding and profile
 * stay until memory_cell_free(). */
Status memory_cell_make(MemoryCell *cell, const Config *config, const Limits *machine, bool keep);
void memory_cell_free(MemoryCell *cell);
