/* Lifetimes -> offsets. Persistent kinds lie one after the other in a region each; everything else
 * shares one arena, where memory is used again as soon as its tensor's last reader has run. */
#pragma once

#include "plan/plan.h"

enum { MEM_PLAN_ALIGN = 256 };
size_t mem_plan_align(size_t bytes); /* rounded up to a multiple of it */

typedef struct MemPlan {
    size_t *offset;    /* of each storage tensor, in its region or the arena; unused for views */
    int *first, *last; /* first and last node that touches each storage tensor */
    int *alias_of;     /* the tensor whose memory this one takes over, or itself */
    size_t *workspace; /* arena offset of each node's workspace */
    size_t region[TK_COUNT]; /* bytes of each persistent kind */
    size_t arena;            /* bytes of the arena */
    size_t common; /* where its part begins that other ranks read; the arena's end: there is none */
    size_t peak_live; /* most bytes alive at once, persistent ones included */
    int peak_node;
} MemPlan;

/* May the output `out` of the node take over the memory of its input `in`? */
typedef bool MemPlanAlias(const Plan *plan, const Node *node, int *out, int *in, int i);

/* `workspace_bytes` has one entry per node. `alias` lists a node's permitted pairs by i = 0, 1, ...
 * until it returns false. `common`: whole arrays that ranks send each other lie in a part of their
 * own, each at the same place in all ranks. */
Status mem_plan_build(MemPlan *mem, const Plan *plan, const size_t *workspace_bytes,
                      MemPlanAlias *alias, bool common);
void mem_plan_free(MemPlan *mem);

size_t mem_plan_total(const MemPlan *mem); /* regions + arena: what is taken from the device */
/* Live bytes while each node runs, by kind: live[node * TK_COUNT + kind]. */
Status mem_plan_timeline(const MemPlan *mem, const Plan *plan, const size_t *workspace_bytes,
                         size_t **live);

/* Bytes that nodes before `node` made and it, or a later one, still needs, or that are kept. Persistent
 * kinds are not counted. What lies between rows is; nothing is rounded up. */
size_t mem_plan_carried(const MemPlan *mem, const Plan *plan, int node);
/* The same after the last node: what is kept or saved. */
size_t mem_plan_left(const MemPlan *mem, const Plan *plan);
