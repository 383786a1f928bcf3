/* What an op is (OpDef: shapes, cost, gradient, decomposition, reference), and one way
 * to run it on one backend (OpImpl).
 *
 * ops/NAME.c defines `const OpDef NAME_def`. ops/NAME_cpu.c defines `const OpImpl NAME_cpu[]`, best
 * first, ended by {0}; on a CPU the reference of NAME.c follows them. Adding an op is those files
 * and one line in plan/ops.def. */
#pragma once

#include "backend/backend.h"
#include "plan/builder.h"
#include "plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct OpCost {
    double flops; /* 2mnk for a product */
    double bytes; /* each operand read once, each result written once */
    double wire;  /* bytes that a rank sends to others */
} OpCost;

typedef struct OpCall {
    Backend *backend;
    const Plan *plan;
    const Node *node;
    void *const *memory; /* first element of every tensor of the plan, views included */
    void *workspace;     /* as much as the implementation asked for, 64-byte aligned */
    int threads;         /* on a CPU */
    void **state;        /* the node's own, from prepare to forget */
    struct Comm *comm;   /* the ranks that run this plan (comm/comm.h); NULL: one */
} OpCall;

typedef struct OpImpl {
    const char *name;
    /* NULL when it takes this node, otherwise why not, for people. A NULL function takes every node. */
    const char *(*declines)(const Plan *plan, const Node *node);
    size_t (*workspace)(const Plan *plan, const Node *node, int threads); /* NULL: none */
    Status (*run)(const OpCall *call);
    /* Once per session, after memory is taken and before the first run: choosing an algorithm,
     * compiling a kernel. NULL: nothing to prepare. */
    Status (*prepare)(const OpCall *call);
    void (*forget)(void *state);
    bool nondeterministic; /* its last bits may differ from run to run */
    /* On a CPU, instead of run(): rows [first, last) of output 0. Threads take a few at a time. */
    void (*rows)(const void *call, int64_t first, int64_t last, int thread);
} OpImpl;

enum { OP_MAX_ALIASES = 3, OP_ROLES = 9 };

typedef struct OpDef {
    const char *source; /* OP_SOURCE: where the op behind a kernel is written */
    int line;
    /* Output `out` may use the memory of input `in` when that input is not needed afterwards. */
    struct {
        int out, in;
    } alias[OP_MAX_ALIASES];
    int n_aliases;
    unsigned auxiliary; /* bit i: output i only serves the backward pass and has no gradient */
    unsigned again;     /* bit i: output i is one of the forward pass, computed once more */
    /* Of the first operands; the others, and those that are not named, are storage. */
    unsigned char out_role[OP_ROLES], in_role[OP_ROLES]; /* DTypeRole */
    Status (*check)(const Plan *plan, const Node *node); /* shapes and dtypes */
    double flops_in, flops_out; /* for each element of input 0, and of output 0 */
    OpCost (*cost)(const Plan *plan, const Node *node); /* NULL: those, and operands' bytes */
    /* Appends the nodes that compute the gradients of the inputs, given builder_grad() of the
     * outputs. NULL: the op has no gradient (it is one itself, or belongs to the optimizer). `node`
     * is no node of the plan, here and below: those move while the plan grows. */
    void (*grad)(Builder *b, const Node *node);
    /* Appends primitives that compute the same outputs. NULL: the op is a primitive. */
    void (*decompose)(Builder *b, const Node *node);
    /* Plain loops in double over operands of any dtype: what everything else is held to. */
    Status (*reference)(const OpCall *call);
} OpDef;

#define OP_SOURCE .source = __FILE__, .line = __LINE__

#define OP(name, category) extern const OpDef name##_def;
#include "plan/ops.def"

const OpDef *op_def(OpKind op);
/* Where it is written: "src/ops/matmul.c", 117. */
typedef struct OpSource {
    const char *file;
    int line;
} OpSource;
OpSource op_source(OpKind op);
OpCost op_cost(const Plan *plan, const Node *node);
/* Is the tensor an output of the node that the forward pass had already? */
bool op_makes_again(const Plan *plan, const Node *node, int tensor);

/* The implementations of an op on a backend, best first, ended by a NULL name. */
const OpImpl *op_impls(OpKind op, BackendId backend);

/* The first implementation that takes the node, or the one named `want` when it is not NULL.
 * On a CPU "reference" is the last of every list. */
Status op_choose(const Plan *plan, const Node *node, BackendId backend, const char *want,
                 OpImpl *out);

Status op_run(const OpImpl *impl, const OpCall *call);

/* An operand other than the step state is float64. */
bool op_has_f64(const Plan *plan, const Node *node);

/* The dtype of tensors that mixed precision keeps in full precision: f64 beside f64, otherwise f32. */
static inline DType op_full_dtype(DType act)
{
    return act == DT_F64 ? DT_F64 : DT_F32;
}

/* ---- op_rule.c: for definitions ---- */

/* For grad(): a node of `op` with the inputs `in` computes d(input 0), where that is wanted. */
void op_rule_grad_input(Builder *b, const Node *node, OpKind op, NodeAttr attr, const int *in,
                        int n_in);
/* For cost(): one element of input 0 is read for each of output 0, as input 1 says. */
OpCost op_rule_cost_gathered(const Plan *plan, const Node *node);

/* ---- for implementations ---- */
static inline void *op_out(const OpCall *call, int i)
{
    const int id = plan_out_id(call->plan, call->node, i);
    return id == PLAN_NONE ? NULL : call->memory[id];
}

static inline const void *op_in(const OpCall *call, int i)
{
    const int id = plan_in_id(call->plan, call->node, i);
    return id == PLAN_NONE ? NULL : call->memory[id];
}

static inline const Tensor *op_out_shape(const OpCall *call, int i)
{
    return plan_out(call->plan, call->node, i);
}

static inline const Tensor *op_in_shape(const OpCall *call, int i)
{
    return plan_in(call->plan, call->node, i);
}

#ifdef __cplusplus
}
#endif
