#include "plan/builder.h"

#include "plan/op_functions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Tensor dummy = {.n_dims = 1, .dim = {1}, .ld = 1, .base = PLAN_NONE};

void builder_init(Builder *b, Plan *plan)
{
    *b = (Builder){.plan = plan, .phase = PHASE_FORWARD, .layer = PLAN_NONE};
}

void builder_free(Builder *b)
{
    free(b->grad);
    free(b->grad_buffer);
    *b = (Builder){0};
}

void builder_scope(Builder *b, int layer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char tail[PLAN_SCOPE];
    vsnprintf(tail, sizeof tail, fmt, args);
    va_end(args);
    b->layer = layer;
    if (layer == PLAN_NONE) {
        snprintf(b->scope, sizeof b->scope, "%s", tail);
    } else {
        snprintf(b->scope, sizeof b->scope, "layer.%d/%.24s", layer, tail);
    }
}

/* Multiplies dimensions; false when the product of elements and bytes leaves 63 bits. */
static bool fits(int n_dims, const int64_t *dim, DType dtype)
{
    int64_t n = (int64_t)plan_dtype_size(dtype);
    for (int i = 0; i < n_dims; i++) {
        if (dim[i] <= 0 || __builtin_mul_overflow(n, dim[i], &n)) return false;
    }
    return true;
}

static int add(Builder *b, const Tensor *tensor)
{
    int id = PLAN_NONE;
    if (b->status != ST_OK) return PLAN_NONE;
    if (!fits(tensor->n_dims, tensor->dim, tensor->dtype)) {
        b->status = FAIL(ST_USAGE,
                         "tensor '%s' is too large to address: choose a smaller model, "
                         "batch or context",
                         tensor->name);
        return PLAN_NONE;
    }
    b->status = plan_add_tensor(b->plan, tensor, &id);
    return b->status == ST_OK ? id : PLAN_NONE;
}

int builder_tensor(Builder *b, const char *name, TensorKind kind, DType dtype, int n_dims,
                   const int64_t *dim)
{
    Tensor t = {.kind = kind, .dtype = dtype, .n_dims = n_dims, .base = PLAN_NONE};
    snprintf(t.name, sizeof t.name, "%s", name);
    memcpy(t.dim, dim, (size_t)n_dims * sizeof *dim);
    t.ld = dim[n_dims - 1];
    return add(b, &t);
}

int builder_like(Builder *b, const char *name, int model, DType dtype)
{
    const Tensor t = *builder_at(b, model);
    return builder_tensor(b, name, TK_ACTIVATION, dtype, t.n_dims, t.dim);
}

int builder_view(Builder *b, const char *name, int base, int64_t offset, int n_dims,
                 const int64_t *dim, int64_t ld)
{
    const Tensor *of = builder_at(b, base);
    Tensor t = {.kind = of->kind, .dtype = of->dtype, .n_dims = n_dims, .ld = ld, .keep = of->keep};
    snprintf(t.name, sizeof t.name, "%s", name);
    memcpy(t.dim, dim, (size_t)n_dims * sizeof *dim);
    t.base = of->base == PLAN_NONE ? base : of->base;
    t.offset = of->offset + offset;
    return add(b, &t);
}

NodeAttr *builder_node(Builder *b, OpKind op, const int *out, int n_out, const int *in, int n_in)
{
    Node node = {.op = op, .phase = b->phase, .layer = b->layer};
    memcpy(node.scope, b->scope, sizeof node.scope);
    if (b->status == ST_OK) b->status = plan_add_node(b->plan, &node, out, n_out, in, n_in);
    b->lost = (NodeAttr){0};
    return b->status == ST_OK ? &b->plan->nodes[b->plan->n_nodes - 1].attr : &b->lost;
}

const Tensor *builder_at(const Builder *b, int id)
{
    return id == PLAN_NONE ? &dummy : &b->plan->tensors[id];
}

DType builder_dtype(const Builder *b, int id)
{
    return builder_at(b, id)->dtype;
}

/* ---- gradients ---- */

static bool reserve(Builder *b)
{
    const int want = b->plan->n_tensors;
    if (want <= b->grad_capacity) return true;
    const int capacity = want * 2;
    int *grad = realloc(b->grad, (size_t)capacity * sizeof *grad);
    if (grad) b->grad = grad;
    int *home = realloc(b->grad_buffer, (size_t)capacity * sizeof *home);
    if (home) b->grad_buffer = home;
    if (!grad || !home) {
        b->status = NO_MEMORY("for %d gradients", capacity);
        return false;
    }
    for (int i = b->grad_capacity; i < capacity; i++) b->grad[i] = b->grad_buffer[i] = PLAN_NONE;
    b->grad_capacity = capacity;
    return true;
}

int builder_grad(const Builder *b, int tensor)
{
    return tensor >= 0 && tensor < b->grad_capacity ? b->grad[tensor] : PLAN_NONE;
}

bool builder_wants_grad(const Builder *b, int tensor)
{
    if (tensor == PLAN_NONE) return false;
    const TensorKind kind = builder_at(b, tensor)->kind;
    return kind != TK_INPUT && kind != TK_CONSTANT && kind != TK_STATE;
}

static int new_gradient(Builder *b, int tensor)
{
    const Tensor t = *builder_at(b, tensor);
    char name[PLAN_NAME];
    snprintf(name, sizeof name, "d(%.50s)", t.name);
    return builder_tensor(b, name, t.kind == TK_LOGITS ? TK_LOGITS : TK_ACTIVATION, t.dtype,
                          t.n_dims, t.dim);
}

/* The gradient of a window is the same window into the gradient. */
static int view_gradient(Builder *b, int tensor)
{
    const Tensor t = *builder_at(b, tensor);
    if (b->grad[t.base] == PLAN_NONE) {
        const int whole = new_gradient(b, t.base);
        if (!reserve(b)) return PLAN_NONE;
        b->grad[t.base] = whole;
    }
    char name[PLAN_NAME];
    snprintf(name, sizeof name, "d(%.50s)", t.name);
    return builder_view(b, name, b->grad[t.base], t.offset, t.n_dims, t.dim, t.ld);
}

int builder_grad_target(Builder *b, int tensor)
{
    if (b->status != ST_OK || tensor == PLAN_NONE || !reserve(b)) return PLAN_NONE;
    const bool first = b->grad[tensor] == PLAN_NONE;
    if (first && b->grad_buffer[tensor] != PLAN_NONE) return b->grad_buffer[tensor];
    if (first && builder_at(b, tensor)->base != PLAN_NONE) return view_gradient(b, tensor);
    return new_gradient(b, tensor);
}

void builder_grad_add(Builder *b, int tensor, int contribution)
{
    if (b->status != ST_OK || tensor == PLAN_NONE || !reserve(b)) return;
    const int so_far = b->grad[tensor];
    if (so_far == PLAN_NONE) {
        b->grad[tensor] = contribution;
        return;
    }
    const int sum = new_gradient(b, tensor);
    builder_node(b, OP_binary, IDS(sum), IDS(so_far, contribution))->fn = FN_ADD;
    if (reserve(b)) b->grad[tensor] = sum;
}

void builder_grad_buffer(Builder *b, int tensor, int home)
{
    if (b->status == ST_OK && reserve(b)) b->grad_buffer[tensor] = home;
}
