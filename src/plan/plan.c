#include "plan/plan.h"

#include "base/array.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

void plan_free(Plan *plan)
{
    free(plan->tensors);
    free(plan->nodes);
    free(plan->operands);
    *plan = (Plan){0};
}

Status plan_add_tensor(Plan *plan, const Tensor *tensor, int *id)
{
    TRY(array_grow(&plan->tensors, (size_t)plan->n_tensors, 1, sizeof *plan->tensors));
    plan->tensors[plan->n_tensors] = *tensor;
    *id = plan->n_tensors++;
    return ST_OK;
}

/* Room for the node's operands, to be filled by the caller. */
static Status new_operands(Plan *plan, Node *node)
{
    const int n = node->n_out + node->n_in;
    TRY(array_grow(&plan->operands, (size_t)plan->n_operands, (size_t)n, sizeof *plan->operands));
    node->first = plan->n_operands;
    plan->n_operands += n;
    return ST_OK;
}

Status plan_set_operands(Plan *plan, Node *node, const int *out, int n_out, const int *in, int n_in)
{
    node->n_out = n_out;
    node->n_in = n_in;
    TRY(new_operands(plan, node));
    for (int i = 0; i < n_out; i++) plan->operands[node->first + i] = out[i];
    for (int i = 0; i < n_in; i++) plan->operands[node->first + n_out + i] = in[i];
    return ST_OK;
}

Status plan_add_node(Plan *plan, const Node *node, const int *out, int n_out, const int *in,
                     int n_in)
{
    Node added = *node;
    TRY(plan_set_operands(plan, &added, out, n_out, in, n_in));
    return plan_append_node(plan, &added);
}

Status plan_append_node(Plan *plan, const Node *node)
{
    TRY(array_grow(&plan->nodes, (size_t)plan->n_nodes, 1, sizeof *plan->nodes));
    plan->nodes[plan->n_nodes++] = *node;
    return ST_OK;
}

Status plan_copy_operands(Plan *plan, Node *node)
{
    const int from = node->first;
    TRY(new_operands(plan, node));
    memcpy(plan->operands + node->first, plan->operands + from,
           (size_t)(node->n_out + node->n_in) * sizeof *plan->operands);
    return ST_OK;
}

int plan_out_id(const Plan *plan, const Node *node, int i)
{
    return i < node->n_out ? plan->operands[node->first + i] : PLAN_NONE;
}

int plan_in_id(const Plan *plan, const Node *node, int i)
{
    return i < node->n_in ? plan->operands[node->first + node->n_out + i] : PLAN_NONE;
}

const Tensor *plan_out(const Plan *plan, const Node *node, int i)
{
    const int id = plan_out_id(plan, node, i);
    return id == PLAN_NONE ? NULL : &plan->tensors[id];
}

const Tensor *plan_in(const Plan *plan, const Node *node, int i)
{
    const int id = plan_in_id(plan, node, i);
    return id == PLAN_NONE ? NULL : &plan->tensors[id];
}

int plan_storage(const Plan *plan, int id)
{
    while (plan->tensors[id].base != PLAN_NONE) id = plan->tensors[id].base;
    return id;
}

int64_t plan_ranks(const Plan *plan)
{
    return plan->ranks > 1 ? plan->ranks : 1;
}

Shard plan_shard(const Plan *plan, int64_t count)
{
    return shard_of(count, plan_ranks(plan), plan->rank);
}

int64_t plan_phase_runs(const Plan *plan, Phase phase)
{
    const bool each = phase == PHASE_FORWARD || phase == PHASE_BACKWARD;
    return each && plan->micro_batches > 1 ? plan->micro_batches : 1;
}

void plan_phase_nodes(const Plan *plan, Phase phase, int *begin, int *end)
{
    int i = 0;
    while (i < plan->n_nodes && plan->nodes[i].phase != phase) i++;
    *begin = i;
    while (i < plan->n_nodes && plan->nodes[i].phase == phase) i++;
    *end = i;
}

int64_t plan_elements(const Tensor *tensor)
{
    int64_t n = 1;
    for (int i = 0; i < tensor->n_dims; i++) n *= tensor->dim[i];
    return n;
}

int64_t plan_width(const Tensor *tensor)
{
    return tensor->dim[tensor->n_dims - 1];
}

int64_t plan_rows(const Tensor *tensor)
{
    int64_t n = 1;
    for (int i = 0; i < tensor->n_dims - 1; i++) n *= tensor->dim[i];
    return n;
}

bool plan_contiguous(const Tensor *tensor)
{
    return tensor->ld == plan_width(tensor) || plan_rows(tensor) == 1;
}

size_t plan_bytes(const Tensor *tensor)
{
    return (size_t)plan_elements(tensor) * plan_dtype_size(tensor->dtype);
}

size_t plan_storage_bytes(const Tensor *tensor)
{
    return (size_t)(plan_rows(tensor) * tensor->ld) * plan_dtype_size(tensor->dtype);
}

size_t plan_dtype_size(DType dtype)
{
    static const size_t size[DT_COUNT] = {
#define DTYPE(id, name, bytes, tensors_name, roles) bytes,
#include "plan/dtypes.def"
    };
    return size[dtype];
}

bool plan_dtype_can_be(DType dtype, DTypeRole role)
{
    enum {
        STORAGE = 1 << DTYPE_STORAGE,
        OPERAND = 1 << DTYPE_OPERAND,
        ACCUMULATION = 1 << DTYPE_ACCUMULATION,
        SCALE = 1 << DTYPE_SCALE
    };
    static const unsigned can_be[DT_COUNT] = {
#define DTYPE(id, name, bytes, tensors_name, roles) roles,
#include "plan/dtypes.def"
    };
    return dtype < DT_COUNT && can_be[dtype] >> role & 1;
}

const char *plan_role_name(DTypeRole role)
{
    static const char *const names[] = {[DTYPE_STORAGE] = "storage",
                                        [DTYPE_OPERAND] = "operand",
                                        [DTYPE_ACCUMULATION] = "accumulation",
                                        [DTYPE_SCALE] = "scale"};
    return names[role];
}

const char *plan_dtype_name(DType dtype)
{
    static const char *const names[DT_COUNT] = {
#define DTYPE(id, name, bytes, tensors_name, roles) name,
#include "plan/dtypes.def"
    };
    return names[dtype];
}

void plan_dtype_unknown(DType dtype, const char *where)
{
    log_error("%s does not know the dtype %s: this is a bug", where,
              dtype < DT_COUNT ? plan_dtype_name(dtype) : "?");
    abort();
}

const char *plan_phase_name(Phase phase)
{
    static const char *const names[PHASE_COUNT] = {
#define PHASE(id, name) name,
#include "plan/phases.def"
    };
    return names[phase];
}

const char *plan_kind_name(TensorKind kind)
{
    static const char *const names[TK_COUNT] = {
#define KIND(id, name, persistent) name,
#include "plan/tensor_kinds.def"
    };
    return names[kind];
}

bool plan_kind_persistent(TensorKind kind)
{
    static const bool lives[TK_COUNT] = {
#define KIND(id, name, persistent) persistent,
#include "plan/tensor_kinds.def"
    };
    return lives[kind];
}

const char *plan_op_name(OpKind op)
{
    static const char *const names[OP_COUNT] = {
#define OP(name, category) #name,
#include "plan/ops.def"
    };
    return names[op];
}

OpCategory plan_op_category(OpKind op)
{
    static const OpCategory categories[OP_COUNT] = {
#define OP(name, category) CATEGORY_##category,
#include "plan/ops.def"
    };
    return categories[op];
}

const char *plan_category_name(OpCategory category)
{
    static const char *const names[CATEGORY_COUNT + 1] = {
#define CATEGORY(name) #name,
#include "plan/categories.def"
        "other"};
    return names[category];
}

OpKind plan_op_find(const char *name)
{
    int i = 0;
    while (i < OP_COUNT && strcmp(plan_op_name((OpKind)i), name) != 0) i++;
    return (OpKind)i;
}

OpCategory plan_category_find(const char *name)
{
    int i = 0;
    while (i < CATEGORY_COUNT && strcmp(plan_category_name((OpCategory)i), name) != 0) i++;
    return (OpCategory)i;
}

bool plan_category_multiplies(OpCategory category)
{
    return category == CATEGORY_matmul || category == CATEGORY_attention;
}
