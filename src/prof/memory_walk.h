/* Replays the allocations and frees of a step, node by node. */
#pragma once

#include "prof/memory_blocks.h"

typedef struct MemoryWalk {
    const MemoryBlocks *list; /* outlives it */
    int node;                 /* it has come to */
    int allocated, freed;     /* the next of the list, of its `by_last` */
    size_t live;              /* bytes */
} MemoryWalk;

/* `live` counts it already, or no longer. */
typedef void MemoryWalkVisit(void *self, const MemoryBlock *block, bool allocated);

/* To before the first node of the forward pass. */
void memory_walk_begin(MemoryWalk *walk, const MemoryBlocks *list);
/* Blocks that die before `node` are visited before those that are allocated at it. A node that was
 * passed before changes nothing: a device may begin two at once. */
void memory_walk_to(MemoryWalk *walk, int node, MemoryWalkVisit *visit, void *self);
/* Passes what is left of the backward pass, and begins the next micro-batch of the step. */
void memory_walk_next_micro_batch(MemoryWalk *walk, MemoryWalkVisit *visit, void *self);
/* Passes what is left of the step, and begins the next. */
void memory_walk_next_step(MemoryWalk *walk, MemoryWalkVisit *visit, void *self);
