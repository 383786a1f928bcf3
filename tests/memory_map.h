/* Runs a plan's reads and writes over a map of its memory: whatever a node reads must still be there.
 * An oracle that does not look at lifetimes. */
#pragma once

#include "plan/mem_plan.h"
#include "with_cmocka.h"

#include <stdlib.h>

/* Who wrote each MEM_PLAN_ALIGN bytes of the arena last. */
typedef struct MemoryMap {
    const Plan *plan;
    const MemPlan *mem;
    const size_t *workspace;
    int *owner; /* a storage tensor, or MEMORY_MAP_NOBODY */
    bool *written;
} MemoryMap;

enum { MEMORY_MAP_NOBODY = -2 };

static inline size_t memory_map_units(size_t bytes)
{
    return (bytes + MEM_PLAN_ALIGN - 1) / MEM_PLAN_ALIGN;
}

static inline bool memory_map_transient(const MemoryMap *map, int id)
{
    return !plan_kind_persistent(map->plan->tensors[id].kind);
}

static inline void memory_map_stamp(MemoryMap *map, size_t offset, size_t bytes, int owner)
{
    assert_int_equal(offset % MEM_PLAN_ALIGN, 0);
    assert_true(offset + bytes <= map->mem->arena);
    for (size_t u = 0; u < memory_map_units(bytes); u++)
        map->owner[offset / MEM_PLAN_ALIGN + u] = owner;
}

static inline void memory_map_write_tensor(MemoryMap *map, int id)
{
    const int s = plan_storage(map->plan, id);
    if (!memory_map_transient(map, s)) return;
    memory_map_stamp(map, map->mem->offset[s], plan_storage_bytes(&map->plan->tensors[s]), s);
    map->written[s] = true;
}

static inline void memory_map_read_tensor(const MemoryMap *map, int id, int node)
{
    const int s = plan_storage(map->plan, id);
    if (!memory_map_transient(map, s)) return;
    if (!map->written[s])
        fail_msg("node %d reads %s before it is written", node, map->plan->tensors[s].name);
    const size_t at = map->mem->offset[s] / MEM_PLAN_ALIGN;
    for (size_t u = 0; u < memory_map_units(plan_storage_bytes(&map->plan->tensors[s])); u++) {
        if (map->owner[at + u] == s) continue;
        fail_msg("node %d reads %s, but tensor %d is in its memory", node,
                 map->plan->tensors[s].name, map->owner[at + u]);
    }
}

/* Does output `out` lie in the memory of an input of the node? */
static inline bool memory_map_takes_over(const MemoryMap *map, const Node *node, int out)
{
    const int root = map->mem->alias_of[plan_storage(map->plan, out)];
    for (int i = 0; i < node->n_in; i++) {
        const int in = plan_in_id(map->plan, node, i);
        if (in == PLAN_NONE || plan_storage(map->plan, in) == plan_storage(map->plan, out))
            continue;
        if (map->mem->alias_of[plan_storage(map->plan, in)] == root) return true;
    }
    return false;
}

static inline void memory_map_read_inputs(const MemoryMap *map, const Node *node, int n)
{
    for (int i = 0; i < node->n_in; i++) {
        const int in = plan_in_id(map->plan, node, i);
        if (in != PLAN_NONE) memory_map_read_tensor(map, in, n);
    }
}

static inline void memory_map_write_outputs(MemoryMap *map, const Node *node, bool in_place)
{
    for (int i = 0; i < node->n_out; i++) {
        const int out = plan_out_id(map->plan, node, i);
        if (out != PLAN_NONE && memory_map_takes_over(map, node, out) == in_place)
            memory_map_write_tensor(map, out);
    }
}

/* Inputs must survive the workspace and every output that was not permitted to replace them. */
static inline void memory_map_run_node(MemoryMap *map, int n)
{
    const Node *node = &map->plan->nodes[n];
    memory_map_read_inputs(map, node, n);
    if (map->workspace[n])
        memory_map_stamp(map, map->mem->workspace[n], map->workspace[n], MEMORY_MAP_NOBODY);
    memory_map_write_outputs(map, node, false);
    memory_map_read_inputs(map, node, n);
    memory_map_write_outputs(map, node, true);
    for (int i = 0; i < node->n_out; i++) {
        const int out = plan_out_id(map->plan, node, i);
        if (out != PLAN_NONE) memory_map_read_tensor(map, out, n);
    }
}

static inline void memory_map_check_regions(const Plan *plan, const MemPlan *mem)
{
    size_t sum[TK_COUNT] = {0};
    for (int i = 0; i < plan->n_tensors; i++) {
        const Tensor *t = &plan->tensors[i];
        if (t->base != PLAN_NONE || !plan_kind_persistent(t->kind)) continue;
        assert_int_equal(mem->offset[i], sum[t->kind]); /* one after the other: none overlap */
        sum[t->kind] += memory_map_units(plan_storage_bytes(t)) * MEM_PLAN_ALIGN;
    }
    for (int k = 0; k < TK_COUNT; k++) assert_int_equal(mem->region[k], sum[k]);
}

static inline void memory_map_check_timeline(const Plan *plan, const MemPlan *mem,
                                             const size_t *workspace)
{
    size_t *live = NULL, most = 0;
    assert_int_equal(mem_plan_timeline(mem, plan, workspace, &live), ST_OK);
    for (int n = 0; n < plan->n_nodes; n++) {
        size_t sum = 0;
        for (int k = 0; k < TK_COUNT; k++) sum += live[n * TK_COUNT + k];
        if (sum > most) most = sum;
        if (n == mem->peak_node) assert_int_equal(sum, mem->peak_live);
    }
    assert_int_equal(most, mem->peak_live);
    assert_true(mem->peak_live <= mem_plan_total(mem));
    free(live);
}

static inline void memory_map_check(const Plan *plan, const MemPlan *mem, const size_t *workspace)
{
    MemoryMap map = {.plan = plan, .mem = mem, .workspace = workspace};
    map.owner = malloc((memory_map_units(mem->arena) + 1) * sizeof *map.owner);
    map.written = calloc((size_t)plan->n_tensors + 1, sizeof *map.written);
    for (size_t u = 0; u < memory_map_units(mem->arena); u++) map.owner[u] = MEMORY_MAP_NOBODY;
    for (int n = 0; n < plan->n_nodes; n++) memory_map_run_node(&map, n);
    for (int i = 0; i < plan->n_tensors; i++) {
        if (plan->tensors[i].keep || plan->tensors[i].saved)
            memory_map_read_tensor(&map, i, plan->n_nodes);
    }
    memory_map_check_regions(plan, mem);
    memory_map_check_timeline(plan, mem, workspace);
    free(map.owner);
    free(map.written);
}
