#include "model/transform_fp8_fuse.h"

#include "base/array.h"
#include "ops/fp8/quantize.h"
#include "plan/op_functions.h"

#include <stdlib.h>

/* An op, what it is when it quantizes, how many inputs that has of its own, and which of its outputs it
 * quantizes: those that are there, in this order. */
typedef struct Fusable {
    OpKind op, fused;
    int n_in, n_out, out[QUANTIZE_PLACES];
} Fusable;

static const Fusable fusable[] = {
    {OP_swiglu, OP_swiglu_fp8, 1, 1, {0}},
    {OP_swiglu_grad, OP_swiglu_fp8_grad, 2, 2, {0, SWIGLU_GRAD_G}},
};

/* Of each tensor with memory of its own: the last node that uses it, and how many do. */
typedef struct Use {
    int node, n;
} Use;

typedef struct Work {
    Plan *plan;
    Use *use;
    bool *gone; /* of each node: another does its work */
} Work;

static void note(const Work *w, int i)
{
    const Plan *plan = w->plan;
    const Node *node = &plan->nodes[i];
    for (int k = 0; k < node->n_out + node->n_in; k++) {
        const int id = plan->operands[node->first + k];
        if (id == PLAN_NONE) continue;
        Use *use = &w->use[plan_storage(plan, id)];
        use->n += use->n == 0 || use->node != i;
        use->node = i;
    }
}

static const Fusable *find(const Plan *plan, const Node *node)
{
    for (size_t i = 0; i < sizeof fusable / sizeof *fusable; i++) {
        if (fusable[i].op != node->op) continue;
        for (int k = fusable[i].n_in; k < node->n_in; k++) {
            if (plan_in_id(plan, node, k) != PLAN_NONE) return NULL; /* halves of their own */
        }
        return &fusable[i];
    }
    return NULL;
}

/* The node that quantizes `tensor` with sizes of earlier steps; PLAN_NONE where there is none, or another
 * wants the tensor. */
static int quantizer(const Work *w, const Node *maker, int tensor)
{
    const Plan *plan = w->plan;
    const Tensor *t = &plan->tensors[tensor];
    const Use use = w->use[tensor];
    const Node *node = &plan->nodes[use.node];
    const bool fits = t->base == PLAN_NONE && !t->keep && !t->saved && t->dtype == DT_BF16;
    if (!fits || use.n != 2 || node->op != OP_quantize || node->phase != maker->phase)
        return PLAN_NONE;
    if (plan_in_id(plan, node, QUANTIZE_IN_X) != tensor) return PLAN_NONE;
    return plan_in_id(plan, node, QUANTIZE_IN_RECENT) == PLAN_NONE ? PLAN_NONE : use.node;
}

/* All results of node i that are there are quantized by nodes of their own: by which. */
static int find_quantizers(const Work *w, const Node *node, const Fusable *f,
                           int by[QUANTIZE_PLACES])
{
    int n = 0;
    for (int k = 0; k < f->n_out; k++) {
        const int tensor = plan_out_id(w->plan, node, f->out[k]);
        if (tensor == PLAN_NONE) continue;
        by[n] = quantizer(w, node, tensor);
        if (by[n++] == PLAN_NONE) return 0;
    }
    return n;
}

static Status fuse(const Work *w, Node *node)
{
    int out[QUANTIZE_PLACES * QUANTIZE_OUTS], in[2 + 2 * QUANTIZE_PLACES], by[QUANTIZE_PLACES];
    const Fusable *f = find(w->plan, node);
    const int n = f ? find_quantizers(w, node, f, by) : 0;
    if (n == 0) return ST_OK;
    for (int k = 0; k < f->n_in; k++) in[k] = plan_in_id(w->plan, node, k);
    for (int p = 0; p < n; p++) {
        const Node *quantize = &w->plan->nodes[by[p]];
        for (int k = 0; k < QUANTIZE_OUTS; k++)
            out[p * QUANTIZE_OUTS + k] = plan_out_id(w->plan, quantize, k);
        in[f->n_in + 2 * p] = plan_in_id(w->plan, quantize, QUANTIZE_IN_RECENT);
        in[f->n_in + 2 * p + 1] = plan_in_id(w->plan, quantize, QUANTIZE_IN_AMAX);
        w->gone[by[p]] = true;
    }
    node->op = f->fused;
    return plan_set_operands(w->plan, node, out, n * QUANTIZE_OUTS, in, f->n_in + 2 * n);
}

static void remove_gone(const Work *w)
{
    int kept = 0;
    for (int i = 0; i < w->plan->n_nodes; i++) {
        if (!w->gone[i]) w->plan->nodes[kept++] = w->plan->nodes[i];
    }
    w->plan->n_nodes = kept;
}

Status transform_fp8_fuse(Plan *plan)
{
    CLEANUP(array_free) Use *use = calloc((size_t)plan->n_tensors + 1, sizeof *use);
    CLEANUP(array_free) bool *gone = calloc((size_t)plan->n_nodes + 1, sizeof *gone);
    const Work w = {plan, use, gone};
    if (!use || !gone) return NO_MEMORY("to fuse casts");
    for (int i = 0; i < plan->n_nodes; i++) note(&w, i);
    for (int i = 0; i < plan->n_nodes; i++) TRY(fuse(&w, &plan->nodes[i]));
    remove_gone(&w);
    return ST_OK;
}
