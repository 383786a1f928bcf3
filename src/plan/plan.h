/* A training step as data: tensors, and the nodes (ops) that read and write them.
 *
 * A plan holds no device pointer and no backend type. It can be built, printed, costed and laid out
 * in memory on a machine that could never run it. Every tensor is written by one node only, except
 * parameters, moments and step state, which the optimizer updates in place, and gradients of
 * parameters that are used more than once, which are accumulated in place, as are sums over
 * micro-batches. */
#pragma once

#include "base/status.h"
#include "plan/shard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PLAN_MAX_DIMS = 4, PLAN_NAME = 56, PLAN_SCOPE = 40, PLAN_NONE = -1 };

typedef enum DType {
#define DTYPE(id, name, bytes, tensors_name, roles) DT_##id,
#include "plan/dtypes.def"
    DT_COUNT
} DType;

/* What a tensor is to an op that reads or writes it (plan/dtypes.def). */
typedef enum DTypeRole { DTYPE_STORAGE, DTYPE_OPERAND, DTYPE_ACCUMULATION, DTYPE_SCALE } DTypeRole;

typedef enum Phase {
#define PHASE(id, name) PHASE_##id,
#include "plan/phases.def"
    PHASE_COUNT
} Phase;

typedef enum TensorKind {
#define KIND(id, name, persistent) TK_##id,
#include "plan/tensor_kinds.def"
    TK_COUNT
} TensorKind;

typedef enum OpKind {
#define OP(name, category) OP_##name,
#include "plan/ops.def"
    OP_COUNT
} OpKind;

typedef enum OpCategory {
#define CATEGORY(name) CATEGORY_##name,
#include "plan/categories.def"
    CATEGORY_COUNT /* none of them: "other" */
} OpCategory;

/* Rows are all dimensions but the last, flattened; row i starts at element i * ld. */
typedef struct Tensor {
    char name[PLAN_NAME];
    TensorKind kind;
    DType dtype;
    int n_dims;
    int64_t dim[PLAN_MAX_DIMS];
    int64_t ld;     /* elements from one row to the next; the width when contiguous */
    int base;       /* PLAN_NONE, or the tensor whose memory this one is a window into */
    int64_t offset; /* elements from the start of `base` */
    bool keep;      /* wanted after the step: lives until its end */
    bool saved; /* for a backward pass that is not run (mode fwd_grad): lives until the end, too */
    int upper;  /* of DT_LOW16: the tensor of this shape with the upper halves, in bf16 */
} Tensor;

/* What an op needs beside tensors. Each op's file says which fields it reads. */
typedef struct NodeAttr {
    int fn;                        /* which function of a family (unary, binary, reduce, ...) */
    bool transpose_a, transpose_b; /* matmul, bmm */
    bool causal, inverse;
    bool tf32;             /* products may round fp32 operands to TF32 */
    bool gradient;         /* scaled_matmul: of a backward pass, whose sums are exact */
    bool halves;           /* RoPE turns element i with element i + rotary / 2, not neighbours */
    bool accumulate;       /* matmul, embedding_grad: added to the output, which is an input, too */
    bool renormalise;      /* route: the weights of a token's experts sum to 1 */
    int64_t heads, tokens; /* H, and T of one sequence */
    int64_t
        head_dim;   /* D: a tensor W wide holds W / D heads (k and v fewer than q); 0: all hold H */
    int64_t rotary; /* elements of each head that RoPE turns, the first ones; 0: all */
    int64_t window; /* of causal attention: a query sees its last keys, this many; 0: all */
    double scale, shift;
} NodeAttr;

/* Where a node runs. Nodes of one queue run in the order of the plan; those of the other wait for them only
 * where they read or write the same memory. */
typedef enum Queue { QUEUE_COMPUTE, QUEUE_COMMUNICATION } Queue;

typedef struct Node {
    OpKind op;
    Phase phase;
    int layer;              /* PLAN_NONE outside the blocks */
    char scope[PLAN_SCOPE]; /* "layer.3/attn/softmax" */
    Queue queue;
    bool recomputed; /* repeats a forward node during backward (model/transform_recompute.c) */
    int first, n_out,
        n_in; /* operands: outputs, then inputs; PLAN_NONE where an optional one is absent */
    NodeAttr attr;
} Node;

typedef struct Plan {
    Tensor *tensors;
    int n_tensors;
    Node *nodes; /* in the order they run; phases are contiguous */
    int n_nodes;
    int *operands;
    int n_operands;
    int64_t micro_batches; /* forward and backward run this often before the optimizer; 0: once */
    int64_t ranks;         /* processes that run it, each on a batch of its own; 0: one */
    int64_t rank;          /* which of them runs this plan */
} Plan;

void plan_free(Plan *plan);
Status plan_add_tensor(Plan *plan, const Tensor *tensor, int *id);
/* `node` carries everything but its operands. */
Status plan_add_node(Plan *plan, const Node *node, const int *out, int n_out, const int *in,
                     int n_in);
/* Appends a node whose operands are in the plan already. */
Status plan_append_node(Plan *plan, const Node *node);
/* Gives the node these operands in place of those that it has. */
Status plan_set_operands(Plan *plan, Node *node, const int *out, int n_out, const int *in,
                         int n_in);
/* Gives the node operands of its own: copies of those that it shares with another node. */
Status plan_copy_operands(Plan *plan, Node *node);

int plan_out_id(const Plan *plan, const Node *node, int i); /* PLAN_NONE when absent */
int plan_in_id(const Plan *plan, const Node *node, int i);
const Tensor *plan_out(const Plan *plan, const Node *node, int i); /* NULL when absent */
const Tensor *plan_in(const Plan *plan, const Node *node, int i);
/* The tensor that owns the memory of `id`: itself, or the base of a view. */
int plan_storage(const Plan *plan, int id);
/* How often a step runs the phase: that of setup, which is no part of it, once. */
int64_t plan_phase_runs(const Plan *plan, Phase phase);
int64_t plan_ranks(const Plan *plan); /* at least 1 */
/* What its rank owns of `count` elements; all of them where there is one rank. */
Shard plan_shard(const Plan *plan, int64_t count);
void plan_phase_nodes(const Plan *plan, Phase phase, int *begin, int *end);

int64_t plan_elements(const Tensor *tensor);
int64_t plan_width(const Tensor *tensor); /* the last dimension */
int64_t plan_rows(const Tensor *tensor);  /* all others, multiplied */
bool plan_contiguous(const Tensor *tensor);
size_t plan_bytes(const Tensor *tensor); /* of a contiguous tensor of this shape */
/* Of a tensor with memory of its own: with what lies between its rows. */
size_t plan_storage_bytes(const Tensor *tensor);

size_t plan_dtype_size(DType dtype);
const char *plan_dtype_name(DType dtype);
bool plan_dtype_can_be(DType dtype, DTypeRole role);
const char *plan_role_name(DTypeRole role);
/* For code that was not written for a dtype: names it on stderr and aborts, before anything reads
 * it as fp32. */
void plan_dtype_unknown(DType dtype, const char *where) __attribute__((noreturn, cold));
const char *plan_phase_name(Phase phase);
const char *plan_kind_name(TensorKind kind);
bool plan_kind_persistent(TensorKind kind);
const char *plan_op_name(OpKind op);
OpKind plan_op_find(const char *name); /* OP_COUNT: there is none of that name */
OpCategory plan_op_category(OpKind op);
const char *plan_category_name(OpCategory category);
OpCategory plan_category_find(const char *name); /* CATEGORY_COUNT: there is none of that name */
/* Its FLOPs are matrix multiplications: matmul and attention. */
bool plan_category_multiplies(OpCategory category);

#ifdef __cplusplus
}
#endif
