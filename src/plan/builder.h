/* Writes a plan, and lets an op's gradient and decomposition rules extend it.
 *
 * The first failure sticks: later calls do nothing and return PLAN_NONE, so rules read straight
 * down and the caller checks `status` once. */
#pragma once

#include "plan/plan.h"

/* The gradient of one tensor while the backward pass is built; PLAN_NONE for none. */
typedef struct BuilderGrad {
    int grad; /* the tensor that holds it so far */
    int buffer; /* where it must end: a parameter's gradient, or a window into the gradient of its base */
    int filled; /* of a storage tensor: the last buffer in its memory that holds a gradient */
    int next;   /* of such a buffer: the one before it */
} BuilderGrad;

typedef struct Builder {
    Plan *plan;
    Status status;
    Phase phase; /* given to every node that is added, as are layer and scope */
    int layer;
    char scope[PLAN_SCOPE];
    NodeAttr lost;      /* where attributes go after a failure */
    BuilderGrad *grads; /* of each tensor */
    int n_grads;
} Builder;

void builder_init(Builder *b, Plan *plan);
void builder_free(Builder *b); /* not the plan */
/* Nodes added next are in "layer.3/NAME", or in NAME where `layer` is PLAN_NONE. */
void builder_scope(Builder *b, int layer, const char *name);

/* `dim` has n_dims entries. The name is for people; it is cut to fit. */
int builder_tensor(Builder *b, const char *name, TensorKind kind, DType dtype, int n_dims,
                   const int64_t *dim);
/* The same shape as `model` (contiguous, a tensor of its own), an activation of dtype `dtype`. */
int builder_like(Builder *b, const char *name, int model, DType dtype);
/* The rows of a tensor that has memory of its own and no windows yet, and those of its gradient, lie
 * `ld` elements apart: a width that is prime leaves them unaligned. */
void builder_set_ld(Builder *b, int tensor, int64_t ld);
/* A window into `base`: `offset` elements from its start, rows `ld` elements apart. */
int builder_view(Builder *b, const char *name, int base, int64_t offset, int n_dims,
                 const int64_t *dim, int64_t ld);

/* Adds a node and returns its attributes, to be set by the caller before the next call. */
NodeAttr *builder_node(Builder *b, OpKind op, const int *out, int n_out, const int *in, int n_in);

/* Outputs or inputs of builder_node: IDS(y, rstd), IDS(x, w). */
#define IDS(...) \
    ((const int[]){__VA_ARGS__}), ((int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
#define DIMS(...)                                                      \
    ((int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))), \
        ((const int64_t[]){__VA_ARGS__})

const Tensor *builder_at(const Builder *b, int id); /* never NULL: a dummy after a failure */
DType builder_dtype(const Builder *b, int id);

/* ---- the gradient rules' side: gradient of x is written d(x) ---- */

/* The tensor that holds d(tensor) so far, PLAN_NONE when nothing flows into it. */
int builder_grad(const Builder *b, int tensor);
/* False for inputs without a buffer for it, and for constants: no rule need compute their gradient. */
bool builder_wants_grad(const Builder *b, int tensor);
/* A tensor of the same shape and dtype to write one contribution to d(tensor) into. */
int builder_grad_target(Builder *b, int tensor);
/* `contribution` (from builder_grad_target, or any tensor of that shape) is now part of d(tensor).
 * The second and later ones are summed by an add node, in place where d(tensor) has a buffer. */
void builder_grad_add(Builder *b, int tensor, int contribution);
/* The buffer of d(tensor) where it holds contributions already: for a node that adds to its output in
 * place, and then builder_grad_add() of the buffer itself. PLAN_NONE: write to builder_grad_target(). */
int builder_grad_begun(Builder *b, int tensor);
/* d(tensor) must end in `buffer`, whose memory the optimizer reads. Tensors may share a buffer
 * (tied weights). */
void builder_grad_buffer(Builder *b, int tensor, int buffer);
/* d(tensor) cannot be another tensor's gradient: it has a buffer, or is a window. */
bool builder_has_grad_buffer(const Builder *b, int tensor);
