/* Every memory block of a step: its address and the nodes at which it is allocated and freed.
 *
 * A tensor that reuses another's memory ends that block and begins its own at the same address, so that
 * at any node the live blocks add up to the bytes of the memory plan. */
#pragma once

#include "exec/binding.h"
#include "model/model.h"

typedef enum MemoryClass {
#define CLASS(id, name, category, colour, glyph, plain) MEMORY_##id,
#include "prof/memory_classes.def"
    MEMORY_COUNT
} MemoryClass;

typedef struct MemoryBlock {
    int tensor; /* PLAN_NONE: the workspace of node `first` */
    MemoryClass usage;
    size_t bytes; /* aligned, as the plan places them */
    uint64_t
        address;     /* from the start of all memory: regions one after the other, then the arena */
    int first, last; /* nodes between which it is alive, both included */
    int producer;    /* the node that first writes it; PLAN_NONE: it comes from outside */
    bool persistent; /* from before the first step to the end */
} MemoryBlock;

typedef struct MemoryBlocks {
    const Model *model; /* both outlive it */
    const Binding *binding;
    MemoryBlock *blocks; /* by `first`; persistent ones come before the others */
    int n;
    int *by_last; /* those that are not persistent, by `last` */
    int n_by_last;
    uint64_t arena; /* address where it begins */
} MemoryBlocks;

Status memory_blocks_make(MemoryBlocks *list, const Model *model, const Binding *binding);
void memory_blocks_free(MemoryBlocks *list);

/* The node that says where a block comes from: its producer, or the node whose workspace it is.
 * NULL: it comes from outside. */
const Node *memory_blocks_node(const MemoryBlocks *list, const MemoryBlock *block);
/* "layers.3.weights", or "workspace of matmul". */
typedef struct MemoryName {
    char s[PLAN_NAME + 16];
} MemoryName;
MemoryName memory_blocks_name(const MemoryBlocks *list, const MemoryBlock *block);

/* Of the op that makes it; of the initial values when it comes from outside. */
OpSource memory_blocks_source(const MemoryBlocks *list, const MemoryBlock *block);

const char *memory_blocks_class_name(MemoryClass usage);
MemoryName memory_blocks_class_field(MemoryClass usage); /* of results: "adam_m_and_v_mib" */
