/* Blocks of known size and lifetime -> places in one arena, so that no two blocks that are alive at
 * the same time overlap and the arena is small. */
#ifndef PLAN_ARENA_PACKING_H
#define PLAN_ARENA_PACKING_H

#include "base/status.h"

#include <stddef.h>

typedef struct PackingBlock {
    size_t bytes;
    int first, last; /* alive from `first` to `last`, both included; 0 <= first <= last < n_times */
    size_t offset;   /* the answer */
} PackingBlock;

/* Fills the offsets and *arena, the end of the highest block. The same blocks in the same order get
 * the same places on every machine. Offsets are sums of sizes, and so aligned when all sizes are. The
 * sizes together must be less than SIZE_MAX / 2. */
Status arena_packing_place(PackingBlock *blocks, int n, int n_times, size_t *arena);

#endif
