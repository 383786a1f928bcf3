#include "plan/mem_plan.h"

#include <stdlib.h>
#include <string.h>

static size_t align_up(size_t bytes)
{
    return (bytes + MEM_PLAN_ALIGN - 1) / MEM_PLAN_ALIGN * MEM_PLAN_ALIGN;
}

static size_t storage_bytes(const Plan *plan, int id)
{
    return align_up(plan_bytes(&plan->tensors[id]));
}

static bool transient(const Plan *plan, int id)
{
    return plan->tensors[id].base == PLAN_NONE && !plan_kind_persistent(plan->tensors[id].kind);
}

/* ---- lifetimes ---- */

static void touch(MemPlan *mem, const Plan *plan, int id, int node, bool read)
{
    const int s = plan_storage(plan, id);
    /* what is read before any node wrote it comes from outside and is there from the start */
    if (mem->first[s] == PLAN_NONE) mem->first[s] = read ? 0 : node;
    mem->last[s] = node;
}

static void find_lifetimes(MemPlan *mem, const Plan *plan)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        mem->first[i] = mem->last[i] = PLAN_NONE;
        mem->shares[i] = i;
    }
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        const int *operand = plan->operands + node->first;
        for (int i = node->n_out; i < node->n_out + node->n_in; i++) {
            if (operand[i] != PLAN_NONE) touch(mem, plan, operand[i], n, true);
        }
        for (int i = 0; i < node->n_out; i++) {
            if (operand[i] != PLAN_NONE) touch(mem, plan, operand[i], n, false);
        }
    }
    for (int i = 0; i < plan->n_tensors; i++) {
        const int s = plan_storage(plan, i);
        if (plan->tensors[i].keep && mem->last[s] != PLAN_NONE) mem->last[s] = plan->n_nodes - 1;
    }
}

/* Output `out` takes over the memory of input `in` when this node is the input's last reader. */
static void try_alias(MemPlan *mem, const Plan *plan, int node, int out, int in)
{
    if (out == PLAN_NONE || in == PLAN_NONE) return;
    if (!transient(plan, out) || !transient(plan, in) || plan->tensors[in].keep) return;
    const int root = mem->shares[in];
    if (mem->first[out] != node || mem->last[root] != node || mem->shares[out] != out) return;
    if (plan->tensors[out].dtype != plan->tensors[in].dtype) return; /* elements must line up */
    if (plan_bytes(&plan->tensors[out]) != plan_bytes(&plan->tensors[in])) return;
    mem->shares[out] = root;
    mem->last[root] = mem->last[out];
}

static void find_aliases(MemPlan *mem, const Plan *plan, MemPlanAlias *alias)
{
    for (int n = 0; alias && n < plan->n_nodes; n++) {
        int out = PLAN_NONE, in = PLAN_NONE;
        for (int i = 0; alias(plan, &plan->nodes[n], &out, &in, i); i++) {
            try_alias(mem, plan, n, plan_out_id(plan, &plan->nodes[n], out),
                      plan_in_id(plan, &plan->nodes[n], in));
        }
    }
}

/* ---- placing ---- */

typedef struct Block {
    size_t bytes, offset;
    int first, last;
    int tensor, node; /* one of them: whose memory or whose workspace it is */
} Block;

/* Largest first; among equals the earliest, so that the layout does not depend on qsort. */
static int by_size(const void *a, const void *b)
{
    const Block *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

/* The lowest gap, among blocks alive at the same time (sorted by offset), that holds `block`. */
static size_t lowest_gap(const Block *block, const Block *const *placed, int n)
{
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        const Block *p = placed[i];
        if (p->last < block->first || p->first > block->last) continue;
        if (p->offset >= at + block->bytes) break;
        if (p->offset + p->bytes > at) at = p->offset + p->bytes;
    }
    return at;
}

static void insert_by_offset(const Block **placed, int n, const Block *block)
{
    int at = n;
    while (at > 0 && placed[at - 1]->offset > block->offset) at--;
    memmove(placed + at + 1, placed + at, (size_t)(n - at) * sizeof(const Block *));
    placed[at] = block;
}

static int collect_blocks(const MemPlan *mem, const Plan *plan, const size_t *workspace_bytes,
                          Block *blocks)
{
    int n = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (!transient(plan, i) || mem->shares[i] != i || mem->first[i] == PLAN_NONE) continue;
        blocks[n++] = (Block){.bytes = storage_bytes(plan, i), .first = mem->first[i],
                              .last = mem->last[i], .tensor = i, .node = PLAN_NONE};
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        if (!workspace_bytes[i]) continue;
        blocks[n++] = (Block){.bytes = align_up(workspace_bytes[i]), .first = i, .last = i,
                              .tensor = PLAN_NONE, .node = i};
    }
    return n;
}

static Status place(MemPlan *mem, const Plan *plan, const size_t *workspace_bytes)
{
    const size_t most = (size_t)(plan->n_tensors + plan->n_nodes) + 1;
    Block *blocks = calloc(most, sizeof *blocks);
    const Block **placed = calloc(most, sizeof *placed);
    if (!blocks || !placed) {
        free(blocks);
        free((void *)placed);
        return FAIL(ST_NO_MEMORY, "memory plan: no memory for %zu blocks", most);
    }
    const int n = collect_blocks(mem, plan, workspace_bytes, blocks);
    qsort(blocks, (size_t)n, sizeof *blocks, by_size);
    for (int i = 0; i < n; i++) {
        blocks[i].offset = lowest_gap(&blocks[i], placed, i);
        insert_by_offset(placed, i, &blocks[i]);
        const size_t end = blocks[i].offset + blocks[i].bytes;
        if (end > mem->arena) mem->arena = end;
        if (blocks[i].tensor != PLAN_NONE) {
            mem->offset[blocks[i].tensor] = blocks[i].offset;
        } else {
            mem->workspace[blocks[i].node] = blocks[i].offset;
        }
    }
    free(blocks);
    free((void *)placed);
    for (int i = 0; i < plan->n_tensors; i++) {
        if (transient(plan, i)) mem->offset[i] = mem->offset[mem->shares[i]];
    }
    return ST_OK;
}

static void place_persistent(MemPlan *mem, const Plan *plan)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        const Tensor *t = &plan->tensors[i];
        if (t->base != PLAN_NONE || !plan_kind_persistent(t->kind)) continue;
        mem->offset[i] = mem->region[t->kind];
        mem->region[t->kind] += storage_bytes(plan, i);
    }
}

/* ---- results ---- */

Status mem_plan_timeline(const MemPlan *mem, const Plan *plan, const size_t *workspace_bytes,
                         size_t **live)
{
    size_t *rows = calloc((size_t)plan->n_nodes + 1, TK_COUNT * sizeof *rows);
    if (!rows) return FAIL(ST_NO_MEMORY, "memory plan: no memory for a timeline");
    /* changes at births and deaths, then a running sum; unsigned wrap-around cancels out */
    for (int i = 0; i < plan->n_tensors; i++) {
        if (!transient(plan, i) || mem->shares[i] != i || mem->first[i] == PLAN_NONE) continue;
        const TensorKind kind = plan->tensors[i].kind;
        rows[mem->first[i] * TK_COUNT + (int)kind] += storage_bytes(plan, i);
        rows[(mem->last[i] + 1) * TK_COUNT + (int)kind] -= storage_bytes(plan, i);
    }
    for (int n = 1; n < plan->n_nodes; n++) {
        for (int k = 0; k < TK_COUNT; k++) rows[n * TK_COUNT + k] += rows[(n - 1) * TK_COUNT + k];
    }
    for (int n = 0; n < plan->n_nodes; n++) {
        for (int k = 0; k < TK_COUNT; k++) rows[n * TK_COUNT + k] += mem->region[k];
        rows[n * TK_COUNT + TK_WORKSPACE] += align_up(workspace_bytes[n]);
    }
    *live = rows;
    return ST_OK;
}

static Status find_peak(MemPlan *mem, const Plan *plan, const size_t *workspace_bytes)
{
    size_t *live = NULL;
    TRY(mem_plan_timeline(mem, plan, workspace_bytes, &live));
    for (int n = 0; n < plan->n_nodes; n++) {
        size_t sum = 0;
        for (int k = 0; k < TK_COUNT; k++) sum += live[n * TK_COUNT + k];
        if (sum <= mem->peak_live) continue;
        mem->peak_live = sum;
        mem->peak_node = n;
    }
    free(live);
    return ST_OK;
}

Status mem_plan_build(MemPlan *mem, const Plan *plan, const size_t *workspace_bytes,
                      MemPlanAlias *alias)
{
    *mem = (MemPlan){0};
    const size_t n = (size_t)plan->n_tensors + 1;
    mem->offset = calloc(n, sizeof *mem->offset);
    mem->first = calloc(n, sizeof *mem->first);
    mem->last = calloc(n, sizeof *mem->last);
    mem->shares = calloc(n, sizeof *mem->shares);
    mem->workspace = calloc((size_t)plan->n_nodes + 1, sizeof *mem->workspace);
    Status st = ST_OK;
    if (!mem->offset || !mem->first || !mem->last || !mem->shares || !mem->workspace) {
        st = FAIL(ST_NO_MEMORY, "memory plan: no memory for %d tensors", plan->n_tensors);
    } else {
        find_lifetimes(mem, plan);
        find_aliases(mem, plan, alias);
        place_persistent(mem, plan);
        st = place(mem, plan, workspace_bytes);
        if (st == ST_OK) st = find_peak(mem, plan, workspace_bytes);
    }
    if (st != ST_OK) mem_plan_free(mem);
    return st;
}

void mem_plan_free(MemPlan *mem)
{
    free(mem->offset);
    free(mem->first);
    free(mem->last);
    free(mem->shares);
    free(mem->workspace);
    *mem = (MemPlan){0};
}

size_t mem_plan_total(const MemPlan *mem)
{
    size_t total = mem->arena;
    for (int k = 0; k < TK_COUNT; k++) total += mem->region[k];
    return total;
}
