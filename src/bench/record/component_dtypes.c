#include "bench/record/component_dtypes.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

const char *const component_dtypes_names[COMPONENT_COUNT] = {
#define COMPONENT(id, name, dtypes) name,
#include "bench/record/component_dtypes.def"
};

/* The dtypes met so far, a bit each. */
typedef unsigned DTypes;

static DTypes one(const Model *m, int tensor)
{
    return tensor == PLAN_NONE ? 0 : 1U << m->plan.tensors[tensor].dtype;
}

static ComponentText text_of(DTypes dtypes, const char *remark)
{
    ComponentText text = {""};
    for (int d = 0; d < DT_COUNT; d++) {
        if (!(dtypes >> d & 1)) continue;
        const size_t n = strlen(text.s);
        snprintf(text.s + n, sizeof text.s - n, "%s%s", n ? " and " : "",
                 plan_dtype_name((DType)d));
    }
    if (!dtypes) return (ComponentText){"-"};
    const size_t n = strlen(text.s);
    snprintf(text.s + n, sizeof text.s - n, "%s", remark);
    return text;
}

/* ---- parameters ---- */

static bool is_norm(const Param *p)
{
    return p->init == INIT_ONES;
}

static bool is_embedding(const Param *p)
{
    return strcmp(p->name, "token_embedding") == 0;
}

static const ParamGroup *group_of(const Model *m, const Param *p)
{
    const int flat = plan_storage(&m->plan, p->tensor);
    for (int i = 0; i < m->n_groups; i++) {
        if (m->groups[i].flat == flat) return &m->groups[i];
    }
    return NULL;
}

/* A master copy may be there in two halves, of which the copy is one. */
static DTypes upper_half(const Model *m, const ParamGroup *g)
{
    return m->plan.tensors[g->flat].dtype == DT_LOW16 ? one(m, g->copy) : 0;
}

/* Of the weights that products read (`norms`: of the norms' weights). */
static DTypes of_params(const Model *m, bool norms, Component what)
{
    DTypes dtypes = 0;
    for (int i = 0; i < m->n_params; i++) {
        const Param *p = &m->params[i];
        const ParamGroup *g = group_of(m, p);
        if (is_norm(p) != norms || is_embedding(p) || !g) continue;
        const bool copied = g->copy != PLAN_NONE;
        if (what == COMPONENT_PARAMETERS) dtypes |= one(m, copied ? g->copy : g->flat);
        if (what == COMPONENT_MASTERS && copied) dtypes |= one(m, g->flat) | upper_half(m, g);
        if (what == COMPONENT_NORM_WEIGHTS) dtypes |= one(m, g->flat);
        if (what == COMPONENT_WEIGHT_GRADIENTS) dtypes |= one(m, g->grad);
        if (what == COMPONENT_MOMENTS) dtypes |= one(m, g->m) | one(m, g->v);
    }
    return dtypes;
}

/* ---- nodes of the forward pass ---- */

/* Does the forward node belong to a part whose name ends so? */
static bool is_part(const Node *node, const char *tail)
{
    return node->phase == PHASE_FORWARD && text_ends_with(node->scope, tail);
}

enum { ANY_OP = -1 };

/* One output of each node of that op in that part. */
static DTypes of_outputs(const Model *m, int op, const char *tail, int output)
{
    DTypes dtypes = 0;
    for (int i = 0; i < m->plan.n_nodes; i++) {
        const Node *node = &m->plan.nodes[i];
        if ((op == ANY_OP || (int)node->op == op) && is_part(node, tail))
            dtypes |= one(m, plan_out_id(&m->plan, node, output));
    }
    return dtypes;
}

/* Norms: one node, or the primitives it was taken apart into. The first reads the input, the last writes
 * the output, and the statistics of a row are what is inside. */
static DTypes of_norms(const Model *m, Component what)
{
    static const char *const norms[] = {"/ln1", "/ln2", "ln_final"};
    DTypes dtypes = 0;
    const Node *nodes = m->plan.nodes;
    for (int i = 0; i < m->plan.n_nodes; i++) {
        for (size_t k = 0; k < sizeof norms / sizeof *norms; k++) {
            if (!is_part(&nodes[i], norms[k])) continue;
            const bool first = i == 0 || strcmp(nodes[i - 1].scope, nodes[i].scope) != 0;
            const bool last =
                i + 1 == m->plan.n_nodes || strcmp(nodes[i + 1].scope, nodes[i].scope) != 0;
            const bool whole = nodes[i].op == OP_rmsnorm;
            if (what == COMPONENT_NORM_INPUT && first)
                dtypes |= one(m, plan_in_id(&m->plan, &nodes[i], 0));
            if (what == COMPONENT_NORM_OUTPUT && last)
                dtypes |= one(m, plan_out_id(&m->plan, &nodes[i], 0));
            if (what == COMPONENT_NORM_INSIDE && (whole || nodes[i].op == OP_reduce))
                dtypes |= one(m, plan_out_id(&m->plan, &nodes[i], whole ? 1 : 0));
        }
    }
    return dtypes;
}

static DTypes of_logit_gradient(const Model *m)
{
    for (int i = 0; i < m->plan.n_nodes; i++) {
        const Node *node = &m->plan.nodes[i];
        if (node->phase == PHASE_BACKWARD && strcmp(node->scope, "lm_head") == 0)
            return one(m, plan_in_id(&m->plan, node, 0)); /* dw = dlogits^T x comes first */
    }
    return 0;
}

static DTypes dtypes_of(const Model *m, Component component)
{
    switch (component) {
#define COMPONENT(id, name, dtypes) \
    case COMPONENT_##id:            \
        return dtypes;
#include "bench/record/component_dtypes.def"
    case COMPONENT_COUNT:
        break;
    }
    return 0;
}

/* Where one node does all of attention, its log-sum-exp tells in what it computes. */
ComponentText component_dtypes_of(const Model *m, Component component)
{
    const bool within = component == COMPONENT_SCORES || component == COMPONENT_SOFTMAX;
    const DTypes inside = within ? of_outputs(m, OP_attention, "attn/attention", 1) : 0;
    return inside ? text_of(inside, ", not in memory") : text_of(dtypes_of(m, component), "");
}
