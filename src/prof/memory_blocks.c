#include "prof/memory_blocks.h"

#include "base/array.h"
#include "exec/init.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *memory_blocks_class_name(MemoryClass usage)
{
    static const char *const names[MEMORY_COUNT] = {
#define CLASS(id, name, category, colour, glyph, plain) name,
#include "prof/memory_classes.def"
    };
    return names[usage];
}

MemoryName memory_blocks_class_field(MemoryClass usage)
{
    MemoryName field = {{0}};
    size_t n = 0;
    for (const char *c = memory_blocks_class_name(usage); *c && n + 5 < sizeof field.s; c++) {
        if (*c != ',') field.s[n++] = (char)(*c == ' ' || *c == '-' ? '_' : tolower(*c));
    }
    memcpy(field.s + n, "_mib", 5);
    return field;
}

/* ---- what a tensor is for ---- */

/* A master weight: matmuls read its 16-bit copy, only the optimizer reads it. */
static bool is_master(const Model *model, int tensor)
{
    for (int i = 0; i < model->n_groups; i++) {
        if (model->groups[i].flat == tensor) return model->groups[i].copy != PLAN_NONE;
    }
    return false;
}

static MemoryClass activation_usage(const Plan *plan, int tensor, int producer)
{
    if (producer == PLAN_NONE) return MEMORY_ACTIVATION;
    if (op_makes_again(plan, &plan->nodes[producer], tensor)) return MEMORY_RECOMPUTED;
    return plan->nodes[producer].phase == PHASE_FORWARD ? MEMORY_ACTIVATION
                                                        : MEMORY_ACTIVATION_GRAD;
}

static MemoryClass usage_of(const Model *model, int tensor, int producer)
{
    static const MemoryClass by_kind[TK_COUNT] = {
        [TK_INPUT] = MEMORY_FIXED,       [TK_CONSTANT] = MEMORY_FIXED,
        [TK_PARAM] = MEMORY_PARAM,       [TK_WEIGHT_COPY] = MEMORY_COPY,
        [TK_MOMENT] = MEMORY_MOMENT,     [TK_STATE] = MEMORY_FIXED,
        [TK_GRAD_SUM] = MEMORY_GRAD_SUM, [TK_GRAD] = MEMORY_GRAD,
        [TK_LOGITS] = MEMORY_LOGITS,     [TK_WORKSPACE] = MEMORY_WORKSPACE,
        [TK_GATHERED] = MEMORY_GATHERED, [TK_QUANTIZED] = MEMORY_QUANTIZED,
    };
    const TensorKind kind = model->plan.tensors[tensor].kind;
    if (kind == TK_PARAM && is_master(model, tensor)) return MEMORY_MASTER;
    return kind == TK_ACTIVATION ? activation_usage(&model->plan, tensor, producer) : by_kind[kind];
}

/* ---- the blocks ---- */

typedef struct Work {
    int *producer;             /* of each storage tensor */
    int *current;              /* of each root of shared memory: its block of the moment */
    uint64_t region[TK_COUNT]; /* where each begins */
} Work;

/* What is filled before the first step has no producer, though the optimizer writes it too. */
static bool is_input(const Plan *plan, int tensor)
{
    const TensorKind kind = plan->tensors[tensor].kind;
    return plan_kind_persistent(kind) && kind != TK_MOMENT && kind != TK_WEIGHT_COPY &&
           kind != TK_GRAD_SUM;
}

/* Copies that are halves of parameters are filled with them. */
static bool is_upper_half(const Model *model, int tensor)
{
    for (int i = 0; i < model->n_groups; i++) {
        if (model->groups[i].copy == tensor) {
            return model->plan.tensors[model->groups[i].flat].dtype == DT_LOW16;
        }
    }
    return false;
}

static void find_producers(const Model *model, int *producer)
{
    const Plan *plan = &model->plan;
    for (int i = 0; i < plan->n_tensors; i++) producer[i] = PLAN_NONE;
    for (int n = 0; n < plan->n_nodes; n++) {
        for (int i = 0; i < plan->nodes[n].n_out; i++) {
            const int id = plan_out_id(plan, &plan->nodes[n], i);
            const int s = id == PLAN_NONE ? PLAN_NONE : plan_storage(plan, id);
            if (s == PLAN_NONE || is_input(plan, s) || is_upper_half(model, s)) continue;
            if (producer[s] == PLAN_NONE) producer[s] = n;
        }
    }
}

static MemoryBlock *add(MemoryBlocks *list, const Work *work, int tensor, int first, int last)
{
    const int producer = tensor == PLAN_NONE ? first : work->producer[tensor];
    MemoryBlock *block = &list->blocks[list->n++];
    *block = (MemoryBlock){.tensor = tensor,
                           .usage = tensor == PLAN_NONE ? MEMORY_WORKSPACE
                                                        : usage_of(list->model, tensor, producer),
                           .first = first,
                           .last = last,
                           .producer = producer};
    if (tensor != PLAN_NONE)
        block->bytes = mem_plan_align(plan_storage_bytes(&list->model->plan.tensors[tensor]));
    return block;
}

static void add_persistent(MemoryBlocks *list, Work *work)
{
    const Plan *plan = &list->model->plan;
    const MemPlan *mem = &list->binding->mem;
    for (int k = 0; k < TK_COUNT; k++) {
        work->region[k] = list->arena;
        list->arena += mem->region[k];
    }
    for (int i = 0; i < plan->n_tensors; i++) {
        const Tensor *t = &plan->tensors[i];
        if (t->base != PLAN_NONE || !plan_kind_persistent(t->kind)) continue;
        MemoryBlock *block = add(list, work, i, 0, plan->n_nodes - 1);
        block->persistent = true;
        block->address = work->region[t->kind] + mem->offset[i];
    }
}

/* The tensor takes over the memory of whoever was last in it, or has some of its own. */
static void add_tensor(MemoryBlocks *list, Work *work, int tensor)
{
    const MemPlan *mem = &list->binding->mem;
    const int root = mem->alias_of[tensor];
    if (root != tensor) list->blocks[work->current[root]].last = mem->first[tensor] - 1;
    work->current[root] = list->n;
    add(list, work, tensor, mem->first[tensor], mem->last[root])->address =
        list->arena + mem->offset[root];
}

static void add_workspace(MemoryBlocks *list, Work *work, int node)
{
    MemoryBlock *block = add(list, work, PLAN_NONE, node, node);
    block->bytes = mem_plan_align(list->binding->workspace[node]);
    block->address = list->arena + list->binding->mem.workspace[node];
}

static void add_once(MemoryBlocks *list, Work *work, int tensor, int node)
{
    const Plan *plan = &list->model->plan;
    const int s = plan_storage(plan, tensor);
    if (plan_kind_persistent(plan->tensors[s].kind) || work->current[s] != PLAN_NONE) return;
    if (list->binding->mem.first[s] != node) return;
    add_tensor(list, work, s);
    work->current[s] = list->n - 1; /* also where it shares: it has been added */
}

static void add_outputs(MemoryBlocks *list, Work *work, int node)
{
    const Plan *plan = &list->model->plan;
    const Node *at = &plan->nodes[node];
    for (int i = 0; i < at->n_out; i++) {
        const int id = plan_out_id(plan, at, i);
        if (id != PLAN_NONE) add_once(list, work, id, node);
    }
    if (list->binding->workspace[node]) add_workspace(list, work, node);
}

static void fill(MemoryBlocks *list, Work *work)
{
    const Plan *plan = &list->model->plan;
    find_producers(list->model, work->producer);
    for (int i = 0; i < plan->n_tensors; i++) work->current[i] = PLAN_NONE;
    add_persistent(list, work);
    /* what is read before any node wrote it is there from the start */
    for (int i = 0; i < plan->n_tensors; i++) add_once(list, work, i, 0);
    for (int n = 0; n < plan->n_nodes; n++) add_outputs(list, work, n);
}

/* A counting sort; `count` has room for one more than there are nodes, zeroed. */
static void sort_by_last(MemoryBlocks *list, int *count)
{
    const int n_nodes = list->model->plan.n_nodes;
    for (int i = 0; i < list->n; i++) {
        if (!list->blocks[i].persistent) count[list->blocks[i].last + 1]++;
    }
    for (int n = 0; n < n_nodes; n++) count[n + 1] += count[n];
    list->n_by_last = count[n_nodes];
    for (int i = 0; i < list->n; i++) {
        if (!list->blocks[i].persistent) list->by_last[count[list->blocks[i].last]++] = i;
    }
}

Status memory_blocks_make(MemoryBlocks *list, const Model *model, const Binding *binding)
{
    const size_t n = (size_t)model->plan.n_tensors + 1, n_nodes = (size_t)model->plan.n_nodes;
    *list = (MemoryBlocks){.model = model, .binding = binding};
    CLEANUP(array_free) int *producer = calloc(n, sizeof *producer);
    CLEANUP(array_free) int *current = calloc(n, sizeof *current);
    CLEANUP(array_free) int *count = calloc(n_nodes + 1, sizeof *count);
    list->blocks = calloc(n + n_nodes, sizeof *list->blocks);
    list->by_last = calloc(n + n_nodes, sizeof *list->by_last);
    if (!producer || !current || !count || !list->blocks || !list->by_last) {
        memory_blocks_free(list);
        return NO_MEMORY("for the blocks of %d tensors", model->plan.n_tensors);
    }
    fill(list, &(Work){.producer = producer, .current = current});
    sort_by_last(list, count);
    return ST_OK;
}

void memory_blocks_free(MemoryBlocks *list)
{
    free(list->blocks);
    free(list->by_last);
    *list = (MemoryBlocks){0};
}

const Node *memory_blocks_node(const MemoryBlocks *list, const MemoryBlock *block)
{
    return block->producer == PLAN_NONE ? NULL : &list->model->plan.nodes[block->producer];
}

MemoryName memory_blocks_name(const MemoryBlocks *list, const MemoryBlock *block)
{
    MemoryName name;
    const Plan *plan = &list->model->plan;
    if (block->tensor != PLAN_NONE) {
        snprintf(name.s, sizeof name.s, "%s", plan->tensors[block->tensor].name);
    } else {
        snprintf(name.s, sizeof name.s, "workspace of %s",
                 plan_op_name(plan->nodes[block->first].op));
    }
    return name;
}

OpSource memory_blocks_source(const MemoryBlocks *list, const MemoryBlock *block)
{
    const Node *node = memory_blocks_node(list, block);
    return node ? op_source(node->op) : (OpSource){"src/exec/init.c", init_line};
}
