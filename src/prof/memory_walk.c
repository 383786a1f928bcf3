#include "prof/memory_walk.h"

static void nobody(void *self, const MemoryBlock *block, bool born)
{
    (void)self;
    (void)block;
    (void)born;
}

static void bury(MemoryWalk *walk, int node, MemoryWalkVisit *visit, void *self)
{
    const MemoryBlocks *list = walk->list;
    for (; walk->dead < list->n_by_last; walk->dead++) {
        const MemoryBlock *block = &list->blocks[list->by_last[walk->dead]];
        if (block->last >= node) return;
        walk->live -= block->bytes;
        visit(self, block, false);
    }
}

/* Node by node, so that nothing is counted alive together that never was. */
void memory_walk_to(MemoryWalk *walk, int node, MemoryWalkVisit *visit, void *self)
{
    const MemoryBlocks *list = walk->list;
    while (walk->node < node) {
        bury(walk, ++walk->node, visit, self);
        for (; walk->born < list->n && list->blocks[walk->born].first == walk->node; walk->born++) {
            walk->live += list->blocks[walk->born].bytes;
            visit(self, &list->blocks[walk->born], true);
        }
    }
}

void memory_walk_begin(MemoryWalk *walk, const MemoryBlocks *list)
{
    int begin = 0, end = 0;
    *walk = (MemoryWalk){.list = list, .node = -1};
    for (; walk->born < list->n && list->blocks[walk->born].persistent; walk->born++)
        walk->live += list->blocks[walk->born].bytes;
    /* the setup runs before all steps */
    plan_phase_nodes(&list->model->plan, PHASE_FORWARD, &begin, &end);
    memory_walk_to(walk, begin - 1, nobody, NULL);
}

void memory_walk_next_step(MemoryWalk *walk, MemoryWalkVisit *visit, void *self)
{
    const int n_nodes = walk->list->model->plan.n_nodes;
    memory_walk_to(walk, n_nodes - 1, visit, self);
    bury(walk, n_nodes, visit, self);
    memory_walk_begin(walk, walk->list);
}
