/* The blocks of a step as it passes its nodes: what is born on the way, what dies, and what is alive. */
#ifndef PROF_MEMORY_WALK_H
#define PROF_MEMORY_WALK_H

#include "prof/memory_blocks.h"

typedef struct MemoryWalk {
    const MemoryBlocks *list; /* outlives it */
    int node;                 /* it has come to */
    int born, dead;           /* the next of the list, of its `by_last` */
    size_t live;              /* bytes */
} MemoryWalk;

/* `live` counts it already, or no longer. */
typedef void MemoryWalkVisit(void *self, const MemoryBlock *block, bool born);

/* To before the first node of the forward pass. */
void memory_walk_begin(MemoryWalk *walk, const MemoryBlocks *list);
/* A node that was passed before is one of the next step. Blocks that die before `node` are visited before
 * those that are born at it. */
void memory_walk_to(MemoryWalk *walk, int node, MemoryWalkVisit *visit, void *self);

#endif
