#include "plan/mem_plan.h"

#include "base/array.h"
#include "base/i64.h"
#include "plan/arena_packing.h"

#include <stdlib.h>

size_t mem_plan_align(size_t bytes)
{
    return (size_t)i64_round_up((int64_t)bytes, MEM_PLAN_ALIGN);
}

static size_t storage_bytes(const Plan *plan, int id)
{
    return mem_plan_align(plan_storage_bytes(&plan->tensors[id]));
}

static bool transient(const Plan *plan, int id)
{
    return plan->tensors[id].base == PLAN_NONE && !plan_kind_persistent(plan->tensors[id].kind);
}

/* It is used, and has memory of its own there. */
static bool in_arena(const MemPlan *mem, const Plan *plan, int id)
{
    return transient(plan, id) && mem->alias_of[id] == id && mem->first[id] != PLAN_NONE;
}

/* ---- what other ranks read ---- */

static void mark(const Plan *plan, int id, bool *common)
{
    const int s = plan_storage(plan, id);
    common[s] = transient(plan, s);
}

/* Arrays of which every rank has all. Shards may differ in size from rank to rank. */
static void find_common(const Plan *plan, bool *common)
{
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        if (node->op == OP_all_reduce || node->op == OP_reduce_scatter)
            mark(plan, plan_in_id(plan, node, 0), common);
        else if (node->op == OP_all_gather)
            mark(plan, plan_out_id(plan, node, 0), common);
    }
}

/* ---- lifetimes ---- */

static void touch(MemPlan *mem, const Plan *plan, int id, int node, bool read)
{
    if (id == PLAN_NONE) return;
    const int s = plan_storage(plan, id);
    /* what is read before any node wrote it comes from outside and is there from the start */
    if (mem->first[s] == PLAN_NONE) mem->first[s] = read ? 0 : node;
    mem->last[s] = node;
}

/* Until the end of the step, whoever reads it last. */
static bool lives_on(const Plan *plan, int id)
{
    return plan->tensors[id].keep || plan->tensors[id].saved;
}

/* What a communication node reads or writes stays until the next one of its op, so that what is computed in
 * the meantime need not wait for it. */
static void prolong(MemPlan *mem, const Plan *plan)
{
    int next[OP_COUNT];
    for (int op = 0; op < OP_COUNT; op++) next[op] = PLAN_NONE;
    for (int n = plan->n_nodes; n-- > 0;) {
        const Node *node = &plan->nodes[n];
        if (node->queue != QUEUE_COMMUNICATION) continue;
        for (int i = 0; i < node->n_out + node->n_in; i++) {
            const int id = plan->operands[node->first + i];
            const int s = id == PLAN_NONE ? PLAN_NONE : plan_storage(plan, id);
            if (s != PLAN_NONE && mem->last[s] < next[node->op]) mem->last[s] = next[node->op];
        }
        next[node->op] = n;
    }
}

static void find_lifetimes(MemPlan *mem, const Plan *plan)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        mem->first[i] = mem->last[i] = PLAN_NONE;
        mem->alias_of[i] = i;
    }
    for (int n = 0; n < plan->n_nodes; n++) {
        const Node *node = &plan->nodes[n];
        for (int i = 0; i < node->n_in; i++) touch(mem, plan, plan_in_id(plan, node, i), n, true);
        for (int i = 0; i < node->n_out; i++)
            touch(mem, plan, plan_out_id(plan, node, i), n, false);
    }
    for (int i = 0; i < plan->n_tensors; i++) {
        const int s = plan_storage(plan, i);
        if (lives_on(plan, i) && mem->last[s] != PLAN_NONE) mem->last[s] = plan->n_nodes - 1;
    }
    prolong(mem, plan);
}

/* Operands of the node that lie in the memory of `root`. */
static int operands_in(const MemPlan *mem, const Plan *plan, const Node *node, int root)
{
    int n = 0;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        if (id != PLAN_NONE && mem->alias_of[plan_storage(plan, id)] == root) n++;
    }
    return n;
}

/* Whether every element of one tensor lies where that of the other does. */
static bool line_up(const Tensor *a, const Tensor *b)
{
    const bool gaps = !plan_contiguous(a) || !plan_contiguous(b);
    if (gaps && (a->ld != b->ld || plan_width(a) != plan_width(b))) return false;
    return a->dtype == b->dtype && plan_bytes(a) == plan_bytes(b);
}

/* Output `out` takes over the memory of input `in` when this node is its last reader and nothing else
 * of the node lies there. The last node of all takes nothing over: what it reads may be kept. */
static void try_alias(MemPlan *mem, const Plan *plan, const bool *common, int node, int out, int in)
{
    if (out == PLAN_NONE || in == PLAN_NONE || node == plan->n_nodes - 1) return;
    if (!transient(plan, out) || !transient(plan, in)) return;
    const int root = mem->alias_of[in];
    if (common[out] || common[root]) return;
    if (mem->first[out] != node || mem->last[root] != node || mem->alias_of[out] != out) return;
    if (!line_up(&plan->tensors[out], &plan->tensors[in])) return;
    if (operands_in(mem, plan, &plan->nodes[node], root) != 1) return;
    mem->alias_of[out] = root;
    mem->last[root] = mem->last[out];
}

static void find_aliases(MemPlan *mem, const Plan *plan, const bool *common, MemPlanAlias *alias)
{
    for (int n = 0; alias && n < plan->n_nodes; n++) {
        int out = PLAN_NONE, in = PLAN_NONE;
        for (int i = 0; alias(plan, &plan->nodes[n], &out, &in, i); i++) {
            try_alias(mem, plan, common, n, plan_out_id(plan, &plan->nodes[n], out),
                      plan_in_id(plan, &plan->nodes[n], in));
        }
    }
}

/* ---- placing ---- */

/* What is to be placed in one part of the arena. */
typedef struct Part {
    const bool *common; /* of each tensor */
    bool is_common;
    const size_t *workspace_bytes; /* NULL: no workspaces are in this part */
} Part;

static bool in_part(const MemPlan *mem, const Plan *plan, const Part *part, int id)
{
    return in_arena(mem, plan, id) && part->common[id] == part->is_common;
}

/* Storage tensors that own memory there, then workspaces. Returns how many there are. */
static int collect_blocks(const MemPlan *mem, const Plan *plan, const Part *part,
                          PackingBlock *blocks)
{
    const size_t *workspace_bytes = part->workspace_bytes;
    int n = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (!in_part(mem, plan, part, i)) continue;
        blocks[n++] = (PackingBlock){
            .bytes = storage_bytes(plan, i), .first = mem->first[i], .last = mem->last[i]};
    }
    for (int i = 0; workspace_bytes && i < plan->n_nodes; i++) {
        if (!workspace_bytes[i]) continue;
        blocks[n++] =
            (PackingBlock){.bytes = mem_plan_align(workspace_bytes[i]), .first = i, .last = i};
    }
    return n;
}

/* The offsets of `blocks`, in the order collect_blocks() made them. */
static void take_offsets(MemPlan *mem, const Plan *plan, const Part *part,
                         const PackingBlock *blocks)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        if (in_part(mem, plan, part, i)) mem->offset[i] = mem->arena + (blocks++)->offset;
    }
    for (int i = 0; part->workspace_bytes && i < plan->n_nodes; i++) {
        if (part->workspace_bytes[i]) mem->workspace[i] = mem->arena + (blocks++)->offset;
    }
}

/* At the end of the arena as it is. */
static Status place_part(MemPlan *mem, const Plan *plan, const Part *part)
{
    const size_t most = (size_t)plan->n_tensors + (size_t)plan->n_nodes + 1;
    CLEANUP(array_free) PackingBlock *blocks = calloc(most, sizeof *blocks);
    if (!blocks) return NO_MEMORY("for %zu blocks", most);
    size_t bytes = 0;
    const int n = collect_blocks(mem, plan, part, blocks);
    TRY(arena_packing_place(blocks, n, plan->n_nodes, &bytes));
    take_offsets(mem, plan, part, blocks);
    mem->arena += bytes;
    return ST_OK;
}

static Status place(MemPlan *mem, const Plan *plan, const size_t *workspace_bytes,
                    const bool *common)
{
    TRY(place_part(mem, plan, &(Part){common, false, workspace_bytes}));
    mem->common = mem->arena;
    TRY(place_part(mem, plan, &(Part){common, true, NULL}));
    for (int i = 0; i < plan->n_tensors; i++) {
        if (transient(plan, i)) mem->offset[i] = mem->offset[mem->alias_of[i]];
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
    size_t *rows = *live = calloc((size_t)plan->n_nodes + 1, TK_COUNT * sizeof *rows);
    if (!rows) return NO_MEMORY("for a timeline");
    /* changes at births and deaths, then a running sum; unsigned wrap-around cancels out */
    for (int i = 0; i < plan->n_tensors; i++) {
        if (!in_arena(mem, plan, i)) continue;
        const TensorKind kind = plan->tensors[i].kind;
        rows[mem->first[i] * TK_COUNT + (int)kind] += storage_bytes(plan, i);
        rows[(mem->last[i] + 1) * TK_COUNT + (int)kind] -= storage_bytes(plan, i);
    }
    for (int n = 1; n < plan->n_nodes; n++) {
        for (int k = 0; k < TK_COUNT; k++) rows[n * TK_COUNT + k] += rows[(n - 1) * TK_COUNT + k];
    }
    for (int n = 0; n < plan->n_nodes; n++) {
        for (int k = 0; k < TK_COUNT; k++) rows[n * TK_COUNT + k] += mem->region[k];
        rows[n * TK_COUNT + TK_WORKSPACE] += mem_plan_align(workspace_bytes[n]);
    }
    return ST_OK;
}

static Status find_peak(MemPlan *mem, const Plan *plan, const size_t *workspace_bytes)
{
    CLEANUP(array_free) size_t *live = NULL;
    TRY(mem_plan_timeline(mem, plan, workspace_bytes, &live));
    for (int n = 0; n < plan->n_nodes; n++) {
        size_t sum = 0;
        for (int k = 0; k < TK_COUNT; k++) sum += live[n * TK_COUNT + k];
        if (sum <= mem->peak_live) continue;
        mem->peak_live = sum;
        mem->peak_node = n;
    }
    return ST_OK;
}

/* Any sum of sizes is at most the sum of all, so none overflows when that does not. */
static Status check_sum(const Plan *plan, const size_t *workspace_bytes)
{
    double sum = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (plan->tensors[i].base == PLAN_NONE) sum += (double)storage_bytes(plan, i);
    }
    for (int i = 0; i < plan->n_nodes; i++) sum += (double)mem_plan_align(workspace_bytes[i]);
    if (sum < 0x1p62) return ST_OK;
    return FAIL(ST_USAGE,
                "the tensors of this step have %.3g bytes together, more than can be "
                "addressed: choose a smaller model, batch or context",
                sum);
}

static Status build(MemPlan *mem, const Plan *plan, const size_t *workspace_bytes,
                    MemPlanAlias *alias, bool with_common)
{
    TRY(check_sum(plan, workspace_bytes));
    const size_t n = (size_t)plan->n_tensors + 1;
    CLEANUP(array_free) bool *common = calloc(n, sizeof *common);
    mem->offset = calloc(n, sizeof *mem->offset);
    mem->first = calloc(n, sizeof *mem->first);
    mem->last = calloc(n, sizeof *mem->last);
    mem->alias_of = calloc(n, sizeof *mem->alias_of);
    mem->workspace = calloc((size_t)plan->n_nodes + 1, sizeof *mem->workspace);
    if (!mem->offset || !mem->first || !mem->last || !mem->alias_of || !mem->workspace || !common)
        return NO_MEMORY("for %d tensors", plan->n_tensors);
    if (with_common) find_common(plan, common);
    find_lifetimes(mem, plan);
    find_aliases(mem, plan, common, alias);
    place_persistent(mem, plan);
    TRY(place(mem, plan, workspace_bytes, common));
    return find_peak(mem, plan, workspace_bytes);
}

Status mem_plan_build(MemPlan *mem, const Plan *plan, const size_t *workspace_bytes,
                      MemPlanAlias *alias, bool common)
{
    *mem = (MemPlan){0};
    const Status status = build(mem, plan, workspace_bytes, alias, common);
    if (status != ST_OK) mem_plan_free(mem);
    return status;
}

void mem_plan_free(MemPlan *mem)
{
    free(mem->offset);
    free(mem->first);
    free(mem->last);
    free(mem->alias_of);
    free(mem->workspace);
    *mem = (MemPlan){0};
}

size_t mem_plan_total(const MemPlan *mem)
{
    size_t total = mem->arena;
    for (int k = 0; k < TK_COUNT; k++) total += mem->region[k];
    return total;
}

size_t mem_plan_carried(const MemPlan *mem, const Plan *plan, int node)
{
    size_t sum = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (!in_arena(mem, plan, i)) continue;
        if (mem->first[i] < node && mem->last[i] >= node)
            sum += plan_storage_bytes(&plan->tensors[i]);
    }
    return sum;
}

size_t mem_plan_left(const MemPlan *mem, const Plan *plan)
{
    size_t sum = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (!transient(plan, i) || mem->first[i] == PLAN_NONE || !lives_on(plan, i)) continue;
        /* memory taken over has one last owner, who lives on */
        sum += plan_storage_bytes(&plan->tensors[i]);
    }
    return sum;
}
