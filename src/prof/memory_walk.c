#include "prof/memory_walk.h"

static void ignore(void *self, const MemoryBlock *block, bool allocated)
{
    (void)self;
    (void)block;
    (void)allocated;
}

static void free_before(MemoryWalk *walk, int node, MemoryWalkVisit *visit, void *self)
{
    const MemoryBlocks *list = walk->list;
    for (; walk->freed < list->n_by_last; walk->freed++) {
        const MemoryBlock *block = &list->blocks[list->by_last[walk->freed]];
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
        free_before(walk, ++walk->node, visit, self);
        for (; walk->allocated < list->n && list->blocks[walk->allocated].first == walk->node;
             walk->allocated++) {
            walk->live += list->blocks[walk->allocated].bytes;
            visit(self, &list->blocks[walk->allocated], true);
        }
    }
}

void memory_walk_begin(MemoryWalk *walk, const MemoryBlocks *list)
{
    int begin = 0, end = 0;
    *walk = (MemoryWalk){.list = list, .node = -1};
    for (; walk->allocated < list->n && list->blocks[walk->allocated].persistent; walk->allocated++)
        walk->live += list->blocks[walk->allocated].bytes;
    /* the setup runs before all steps */
    plan_phase_nodes(&list->model->plan, PHASE_FORWARD, &begin, &end);
    memory_walk_to(walk, begin - 1, ignore, NULL);
}

static void begin_again(MemoryWalk *walk, int end, MemoryWalkVisit *visit, void *self)
{
    memory_walk_to(walk, end - 1, visit, self);
    free_before(walk, end, visit, self);
    memory_walk_begin(walk, walk->list);
}

void memory_walk_next_micro_batch(MemoryWalk *walk, MemoryWalkVisit *visit, void *self)
{
    int begin = 0, end = 0;
    plan_phase_nodes(&walk->list->model->plan, PHASE_BACKWARD, &begin, &end);
    begin_again(walk, end, visit, self);
}

void memory_walk_next_step(MemoryWalk *walk, MemoryWalkVisit *visit, void *self)
{
    begin_again(walk, walk->list->model->plan.n_nodes, visit, self);
}
