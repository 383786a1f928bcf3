#include "model/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 4 };

/* Tensors that became windows into one: their outputs, in the order of their columns. */
typedef struct Parts {
    int whole; /* PLAN_NONE: there are none */
    int part[MAX_PARTS];
    int n;
} Parts;

typedef struct Work {
    Builder *b;
    const Node *old; /* the nodes of the plan as it was; operands stay where they are */
    int n_old;
    int *replacement; /* of each tensor: what is read in its place */
    Parts last;       /* of the last fused matmul */
} Work;

/* ---- which nodes become one ---- */

static int input(const Work *w, const Node *node, int i)
{
    return plan_in_id(w->b->plan, node, i);
}

static bool follows(const Tensor *left, const Tensor *right)
{
    return left->base != PLAN_NONE && left->base == right->base &&
           right->offset == left->offset + plan_elements(left);
}

/* `right` multiplies the same input by the weights that follow those of `left` in memory, as its
 * bias follows that of `left`. */
static bool matmuls_join(const Work *w, const Node *left, const Node *right)
{
    const NodeAttr *a = &left->attr, *c = &right->attr;
    if (input(w, left, 0) != input(w, right, 0) || strcmp(left->scope, right->scope) != 0)
        return false;
    if (!a->transpose_b || !c->transpose_b || a->transpose_a || c->transpose_a) return false;
    if (left->n_in != right->n_in) return false;
    const Tensor *x = builder_at(w->b, input(w, left, 1)),
                 *y = builder_at(w->b, input(w, right, 1));
    return plan_width(x) == plan_width(y) && follows(x, y) &&
           (left->n_in < 3 ||
            follows(builder_at(w->b, input(w, left, 2)), builder_at(w->b, input(w, right, 2))));
}

/* Which part of the last fused matmul the tensor is; PLAN_NONE: none. */
static int part_number(const Work *w, int tensor)
{
    for (int i = 0; i < w->last.n; i++) {
        if (w->last.part[i] == tensor) return i;
    }
    return PLAN_NONE;
}

static bool ropes_join(const Work *w, const Node *left, const Node *right)
{
    const int first = part_number(w, input(w, left, 0));
    return first != PLAN_NONE && part_number(w, input(w, right, 0)) == first + 1 &&
           input(w, left, 1) == input(w, right, 1) && left->attr.inverse == right->attr.inverse;
}

/* How many nodes from `n` on become one. */
static int run_length(const Work *w, int n)
{
    const Node *first = &w->old[n];
    int length = 1;
    for (; n + length < w->n_old && length < MAX_PARTS; length++) {
        const Node *left = &w->old[n + length - 1], *right = left + 1;
        if (right->op != first->op || right->phase != first->phase) break;
        if (first->op == OP_matmul ? !matmuls_join(w, left, right)
                                   : first->op != OP_rope || !ropes_join(w, left, right))
            break;
    }
    const bool at_start = first->op == OP_matmul || part_number(w, input(w, first, 0)) == 0;
    return at_start ? length : 1;
}

/* ---- names: "qkv" of q, k and v; "attn/rope" of attn/rope_q and attn/rope_k ---- */

static size_t common_length(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n;
}

static void join_name(char *name, const char *more)
{
    const size_t n = strlen(name);
    snprintf(name + n, PLAN_NAME - n, "%s", more + common_length(name, more));
}

static void join_scope(char *scope, const char *other)
{
    size_t n = common_length(scope, other);
    if (scope[n]) {
        while (n > 0 && scope[n - 1] == '_') n--;
    }
    scope[n] = 0;
}

/* ---- fusing ---- */

static void emit(Work *w, const Node *node, const int *out, int n_out, const int *in, int n_in)
{
    if (w->b->status == ST_OK) w->b->status = plan_add_node(w->b->plan, node, out, n_out, in, n_in);
}

/* Turns the output of the first node into the whole, `width` wide; the other outputs become windows
 * into it. */
static int make_whole(Work *w, const Node *nodes, int n, int64_t width)
{
    const Plan *plan = w->b->plan;
    const int whole = plan_out_id(plan, &nodes[0], 0);
    Tensor *t = &plan->tensors[whole];
    const Tensor first = *t;
    int64_t column = 0;
    for (int i = 1; i < n; i++) join_name(t->name, plan_out(plan, &nodes[i], 0)->name);
    t->dim[t->n_dims - 1] = t->ld = width;
    for (int i = 0; i < n; i++) {
        const int out = plan_out_id(plan, &nodes[i], 0);
        const Tensor part = i ? *builder_at(w->b, out) : first;
        const int64_t columns = plan_width(&part);
        w->replacement[out] =
            builder_view(w->b, part.name, whole, column, DIMS(plan_rows(&part), columns), width);
        column += columns;
    }
    return whole;
}

/* Input `i` of `n` matmuls (weights, biases) as one tensor, with a place for its gradient. */
static int join_params(Work *w, const Node *nodes, int n, int i)
{
    Builder *b = w->b;
    const int id = input(w, &nodes[0], i);
    const Tensor first = *builder_at(b, id);
    int64_t dim[2] = {0, first.dim[1]};
    for (int k = 0; k < n; k++) dim[0] += builder_at(b, input(w, &nodes[k], i))->dim[0];
    const int64_t ld = first.n_dims == 1 ? dim[0] : first.ld;
    const int joined = builder_view(b, first.name, first.base, first.offset, first.n_dims, dim, ld);
    if (id >= b->n_grads || b->grads[id].buffer == PLAN_NONE) return joined;
    const Tensor grad = *builder_at(b, b->grads[id].buffer);
    builder_grad_buffer(b, joined,
                        builder_view(b, grad.name, grad.base, grad.offset, first.n_dims, dim, ld));
    return joined;
}

static void fuse_matmuls(Work *w, const Node *nodes, int n)
{
    int in[3] = {w->replacement[input(w, &nodes[0], 0)]};
    for (int i = 1; i < nodes[0].n_in; i++) in[i] = join_params(w, nodes, n, i);
    const int64_t rows = builder_at(w->b, in[1])->dim[0];
    w->last = (Parts){.whole = make_whole(w, nodes, n, rows), .n = n};
    for (int i = 0; i < n; i++) w->last.part[i] = plan_out_id(w->b->plan, &nodes[i], 0);
    emit(w, &nodes[0], IDS(w->last.whole), in, nodes[0].n_in);
}

/* rope copies the columns that it does not rotate: they are read from its result from now on. */
static void fuse_ropes(Work *w, const Node *nodes, int n)
{
    const Plan *plan = w->b->plan;
    const int64_t width = plan_width(&plan->tensors[w->last.whole]);
    Node node = nodes[0];
    for (int i = 1; i < n; i++) {
        node.attr.heads += nodes[i].attr.heads;
        join_scope(node.scope, nodes[i].scope);
    }
    const int whole = make_whole(w, nodes, n, width);
    for (int i = n; i < w->last.n; i++) {
        const Tensor t = *builder_at(w->b, w->replacement[w->last.part[i]]);
        w->replacement[w->last.part[i]] =
            builder_view(w->b, t.name, whole, t.offset, t.n_dims, t.dim, t.ld);
    }
    const int cos = input(w, &node, 1), sin = input(w, &node, 2);
    emit(w, &node, IDS(whole), IDS(w->last.whole, cos, sin, PLAN_NONE, PLAN_NONE));
}

static bool reads_whole(const Work *w, const Node *node)
{
    return node->op == OP_swiglu && w->last.n == 2 && part_number(w, input(w, node, 0)) == 0 &&
           part_number(w, input(w, node, 1)) == 1;
}

/* The node as it is, reading what stands for its inputs now. */
static void keep_node(Work *w, const Node *node)
{
    int *in = w->b->plan->operands + node->first + node->n_out;
    for (int i = 0; i < node->n_in; i++) {
        if (in[i] != PLAN_NONE) in[i] = w->replacement[in[i]];
    }
    w->b->status = plan_append_node(w->b->plan, node);
}

static void rebuild(Work *w)
{
    for (int n = 0; n < w->n_old && w->b->status == ST_OK;) {
        const Node *node = &w->old[n];
        const int length = run_length(w, n);
        if (length > 1 && node->op == OP_matmul) {
            fuse_matmuls(w, node, length);
        } else if (length > 1) {
            fuse_ropes(w, node, length);
        } else if (reads_whole(w, node)) {
            emit(w, node, IDS(plan_out_id(w->b->plan, node, 0)), IDS(w->last.whole));
        } else {
            keep_node(w, node);
        }
        n += length;
    }
}

void transform_fuse(Builder *b)
{
    Node *old = b->plan->nodes;
    const int n = b->plan->n_tensors;
    Work w = {.b = b, .old = old, .n_old = b->plan->n_nodes, .last = {.whole = PLAN_NONE}};
    w.replacement = malloc(((size_t)n + 1) * sizeof *w.replacement);
    if (!w.replacement) {
        b->status = NO_MEMORY("to fuse nodes");
        return;
    }
    for (int i = 0; i < n; i++) w.replacement[i] = i;
    b->plan->nodes = NULL;
    b->plan->n_nodes = 0;
    rebuild(&w);
    free(old);
    free(w.replacement);
}
