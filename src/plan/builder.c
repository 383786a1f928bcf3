#include "plan/builder.h"

#include "base/array.h"
#include "plan/op_functions.h"

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
    free(b->grads);
    *b = (Builder){0};
}

void builder_scope(Builder *b, int layer, const char *name)
{
    b->layer = layer;
    if (layer == PLAN_NONE) {
        snprintf(b->scope, sizeof b->scope, "%s", name);
    } else {
        snprintf(b->scope, sizeof b->scope, "layer.%d/%.24s", layer, name);
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

void builder_set_ld(Builder *b, int tensor, int64_t ld)
{
    if (b->status != ST_OK) return;
    Tensor *t = &b->plan->tensors[tensor];
    if (t->base != PLAN_NONE || ld < plan_width(t)) {
        b->status = FAIL(ST_FAILED, "rows of '%s' cannot lie %lld apart", t->name, (long long)ld);
        return;
    }
    t->ld = ld;
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

static const BuilderGrad no_grad = {PLAN_NONE, PLAN_NONE, PLAN_NONE, PLAN_NONE};

/* Every tensor of the plan has an entry in `grads`. */
static bool reserve(Builder *b)
{
    const int n = b->plan->n_tensors;
    if (b->status == ST_OK && n > b->n_grads)
        b->status =
            array_grow(&b->grads, (size_t)b->n_grads, (size_t)(n - b->n_grads), sizeof *b->grads);
    if (b->status != ST_OK) return false;
    while (b->n_grads < n) b->grads[b->n_grads++] = no_grad;
    return true;
}

int builder_grad(const Builder *b, int tensor)
{
    return tensor >= 0 && tensor < b->n_grads ? b->grads[tensor].grad : PLAN_NONE;
}

static bool has_buffer(const Builder *b, int tensor)
{
    return tensor < b->n_grads && b->grads[tensor].buffer != PLAN_NONE;
}

bool builder_has_grad_buffer(const Builder *b, int tensor)
{
    return has_buffer(b, tensor) || builder_at(b, tensor)->base != PLAN_NONE;
}

bool builder_wants_grad(const Builder *b, int tensor)
{
    if (tensor == PLAN_NONE) return false;
    const TensorKind kind = builder_at(b, tensor)->kind;
    return has_buffer(b, tensor) || (kind != TK_INPUT && kind != TK_CONSTANT && kind != TK_STATE);
}

/* A tensor, or with `base` a window into that one, for the gradient of `t`. */
static int gradient_like(Builder *b, const Tensor *t, int base)
{
    char name[PLAN_NAME];
    snprintf(name, sizeof name, "d(%.50s)", t->name);
    if (base != PLAN_NONE) return builder_view(b, name, base, t->offset, t->n_dims, t->dim, t->ld);
    const TensorKind kind = t->kind == TK_LOGITS ? TK_LOGITS : TK_ACTIVATION;
    const int grad = builder_tensor(b, name, kind, t->dtype, t->n_dims, t->dim);
    if (t->base == PLAN_NONE) builder_set_ld(b, grad, t->ld);
    return grad;
}

static int new_gradient(Builder *b, int tensor)
{
    const Tensor t = *builder_at(b, tensor); /* a copy: tensors move while the plan grows */
    return gradient_like(b, &t, PLAN_NONE);
}

/* Sets the buffer of a window: the same window into the gradient of its base. */
static void find_buffer(Builder *b, int tensor)
{
    const Tensor t = *builder_at(b, tensor);
    if (t.base == PLAN_NONE || b->grads[tensor].buffer != PLAN_NONE) return;
    const BuilderGrad base = b->grads[t.base];
    if (base.grad != PLAN_NONE && base.grad != base.buffer) {
        b->status = FAIL(ST_FAILED, "'%s' and a window into it both have gradients", t.name);
        return;
    }
    const int whole = base.buffer == PLAN_NONE ? new_gradient(b, t.base) : base.buffer;
    const int window = gradient_like(b, &t, whole);
    if (!reserve(b)) return;
    b->grads[t.base].grad = b->grads[t.base].buffer = whole;
    b->grads[tensor].buffer = window;
}

typedef enum Overlap { APART, INSIDE, CROSSING } Overlap;

/* How the elements of `a` lie to those of `b`, both of one storage. Windows with gaps share their ld. */
static Overlap overlap(const Tensor *a, const Tensor *b)
{
    const bool gaps = !plan_contiguous(a) || !plan_contiguous(b);
    const int64_t from_a = gaps ? a->offset % a->ld : a->offset;
    const int64_t from_b = gaps ? b->offset % b->ld : b->offset;
    const int64_t to_a = from_a + (gaps ? plan_width(a) : plan_elements(a));
    const int64_t to_b = from_b + (gaps ? plan_width(b) : plan_elements(b));
    if (to_a <= from_b || to_b <= from_a) return APART;
    return from_a >= from_b && to_a <= to_b ? INSIDE : CROSSING;
}

/* Whether the memory of `buffer` already holds a gradient: its own, or one of a tensor that shares
 * the memory. */
static bool is_filled(Builder *b, int buffer)
{
    int i = b->grads[plan_storage(b->plan, buffer)].filled;
    for (; i != PLAN_NONE; i = b->grads[i].next) {
        const Overlap how = overlap(builder_at(b, buffer), builder_at(b, i));
        if (how == INSIDE) return true;
        if (how == CROSSING)
            b->status =
                FAIL(ST_FAILED, "gradients of '%s' and '%s' share only part of their memory",
                     builder_at(b, buffer)->name, builder_at(b, i)->name);
    }
    return false;
}

static void fill(Builder *b, int buffer)
{
    int *first = &b->grads[plan_storage(b->plan, buffer)].filled;
    b->grads[buffer].next = *first;
    *first = buffer;
}

int builder_grad_target(Builder *b, int tensor)
{
    if (tensor == PLAN_NONE || !reserve(b)) return PLAN_NONE;
    find_buffer(b, tensor);
    if (b->status != ST_OK) return PLAN_NONE;
    const int buffer = b->grads[tensor].buffer;
    if (buffer == PLAN_NONE || is_filled(b, buffer)) return new_gradient(b, tensor);
    fill(b, buffer);
    return buffer;
}

int builder_grad_begun(Builder *b, int tensor)
{
    if (tensor == PLAN_NONE || !reserve(b)) return PLAN_NONE;
    find_buffer(b, tensor);
    if (b->status != ST_OK) return PLAN_NONE;
    const int buffer = b->grads[tensor].buffer;
    return buffer != PLAN_NONE && is_filled(b, buffer) ? buffer : PLAN_NONE;
}

void builder_grad_add(Builder *b, int tensor, int contribution)
{
    if (tensor == PLAN_NONE || !reserve(b)) return;
    find_buffer(b, tensor);
    if (b->status != ST_OK) return;
    const int buffer = b->grads[tensor].buffer, so_far = b->grads[tensor].grad;
    int grad = buffer;
    if (buffer == PLAN_NONE) {
        grad = so_far == PLAN_NONE ? contribution : new_gradient(b, tensor);
        if (so_far != PLAN_NONE)
            builder_node(b, OP_binary, IDS(grad), IDS(so_far, contribution))->fn = FN_ADD;
    } else if (contribution != buffer && is_filled(b, buffer)) {
        builder_node(b, OP_binary, IDS(buffer), IDS(buffer, contribution))->fn = FN_ADD;
    } else if (contribution != buffer) {
        builder_node(b, OP_cast, IDS(buffer), IDS(contribution));
        fill(b, buffer);
    }
    if (reserve(b)) b->grads[tensor].grad = grad;
}

void builder_grad_buffer(Builder *b, int tensor, int buffer)
{
    if (reserve(b)) b->grads[tensor].buffer = buffer;
}
