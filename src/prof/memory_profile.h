/* Where the bytes of a step are, node by node, from the plan alone: the fullest moment of each phase and
 * what it is made of, the first step apart, what stays between steps, what a block saves for backward.
 *
 * Live means that it holds something: Adam's m and v, which are reserved from the start, count from the
 * first optimizer step on. That is what sets the first step apart from those that follow. */
#pragma once

#include "prof/memory_blocks.h"

typedef enum MemoryStep { MEMORY_FIRST_STEP, MEMORY_LATER_STEP, MEMORY_STEPS } MemoryStep;

/* Bytes alive while one node runs. */
typedef struct MemoryMoment {
    int node; /* PLAN_NONE: there is no such moment */
    size_t total;
    size_t usage[MEMORY_COUNT]; /* add up to it */
} MemoryMoment;

enum { MEMORY_LARGEST = 5 };

typedef struct MemorySaved {
    int block; /* of the list of blocks */
    size_t bytes;
} MemorySaved;

/* One Transformer block, the middle one: they are all alike but for the first. */
typedef struct MemoryLayer {
    int layer;
    size_t saved; /* made by its forward pass and still needed when backward begins */
    MemorySaved largest[MEMORY_LARGEST];
    int n_largest;
    size_t weight_gradients, activation_gradients; /* the latter: at most at once */
    size_t recomputed;                             /* at most at once */
} MemoryLayer;

typedef struct MemoryProfile {
    MemoryBlocks blocks;
    size_t *live; /* of a later step: live[node * MEMORY_COUNT + usage] */
    size_t *
        unwritten; /* of each node: bytes of m and v that no node has written yet in the first step */
    MemoryMoment peak[MEMORY_STEPS][PHASE_COUNT], highest[MEMORY_STEPS];
    MemoryMoment between;   /* after a step */
    size_t by_op[OP_COUNT]; /* activations alive at the highest moment, by the op that made them */
    MemoryLayer layer;      /* only where something is saved for a backward pass */
    size_t stream;          /* the residual stream */
    size_t reserved;        /* regions and arena */
} MemoryProfile;

/* `model` and `binding` outlive it. */
Status memory_profile_make(MemoryProfile *profile, const Model *model, const Binding *binding);
void memory_profile_free(MemoryProfile *profile);

MemoryMoment memory_profile_at(const MemoryProfile *profile, MemoryStep step, int node);
/* Two steps, the first and one that follows, cut into `n` columns: the fullest moment of one of them, so
 * that no peak falls between two. */
MemoryMoment memory_profile_column(const MemoryProfile *profile, int column, int n);
/* How many nodes a step has. */
int memory_profile_nodes(const MemoryProfile *profile);
bool memory_profile_alive(const MemoryBlock *block, int node);
/* The largest blocks alive at that node, largest first; returns how many of the `most` there are. */
int memory_profile_largest(const MemoryProfile *profile, int node, MemorySaved *out, int most);
