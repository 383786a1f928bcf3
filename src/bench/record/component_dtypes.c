#include "bench/record/component_dtypes.h"

#include "base/text.h"
#include "ops/fp8/scaled_matmul.h"

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
    /* "ln1", "ln_final_bias", "attn.q_norm" */
    const char *name = strrchr(p->name, '.');
    name = name ? name + 1 : p->name;
    return strncmp(name, "ln", 2) == 0 || text_ends_with(name, "_norm");
}

static bool is_embedding(const Param *p)
{
    return text_ends_with(p->name, "_embedding");
}

/* A tied table is the head's weight, too. */
static bool is_weight(const Model *m, const Param *p)
{
    const bool head = m->config.model.tied && strcmp(p->name, "token_embedding") == 0;
    return head || (!is_norm(p) && !is_embedding(p));
}

Component component_dtypes_of_param(const Model *m, const Param *p)
{
    if (is_weight(m, p)) return COMPONENT_PARAMETERS;
    return is_norm(p) ? COMPONENT_NORM_WEIGHTS : COMPONENT_EMBEDDINGS;
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

static DTypes of_group(const Model *m, const ParamGroup *g, Component what)
{
    const bool copied = g->copy != PLAN_NONE;
    switch ((int)what) {
    case COMPONENT_PARAMETERS:
        return one(m, copied ? g->copy : g->flat);
    case COMPONENT_MASTERS:
        return copied ? one(m, g->flat) | upper_half(m, g) : 0;
    case COMPONENT_WEIGHT_GRADIENTS:
        return one(m, g->grad);
    default:
        return one(m, g->m) | one(m, g->v);
    }
}

/* Which parameters: weights and biases of products, of norms, tables of embeddings. */
enum { WEIGHTS = 1, NORMS = 2, TABLES = 4, ALL = 7 };

static DTypes of_params(const Model *m, unsigned which, Component what)
{
    DTypes dtypes = 0;
    for (int i = 0; i < m->n_params; i++) {
        const Param *p = &m->params[i];
        const unsigned is = (is_weight(m, p) ? WEIGHTS : 0U) | (is_norm(p) ? NORMS : 0U) |
                            (is_embedding(p) ? TABLES : 0U);
        const ParamGroup *g = is & which ? group_of(m, p) : NULL;
        if (g) dtypes |= of_group(m, g, what);
    }
    return dtypes;
}

/* ---- nodes ---- */

static const char *within_layer(const char *scope)
{
    const char *slash = strncmp(scope, "layer.", 6) == 0 ? strchr(scope, '/') : NULL;
    return slash ? slash + 1 : scope;
}

static const struct {
    const char *scope;
    Component component;
} forward[] = {
#define SCOPE(scope, component) {scope, COMPONENT_##component},
#include "bench/record/component_dtypes.def"
};
enum { N_FORWARD = sizeof forward / sizeof *forward };

/* Logits come in before, whether it is run with the forward pass (model/transform_chunk_head.h) or not. */
static bool is_gradient(const Model *m, const Node *node)
{
    if (node->phase == PHASE_BACKWARD || node->op == OP_cross_entropy_grad) return true;
    const int in = plan_in_id(&m->plan, node, 0);
    return node->op == OP_matmul && in != PLAN_NONE && m->plan.tensors[in].kind == TK_LOGITS;
}

static Component gradient_component(const Model *m, const Node *node)
{
    const TensorKind kind = m->plan.tensors[plan_out_id(&m->plan, node, 0)].kind;
    if (kind == TK_GRAD) return COMPONENT_WEIGHT_GRADIENTS;
    return kind == TK_LOGITS ? COMPONENT_LOGIT_GRADIENTS : COMPONENT_ACTIVATION_GRADIENTS;
}

Component component_dtypes_of_node(const Model *m, const Node *node)
{
    const char *scope = within_layer(node->scope);
    if (node->op == OP_quantize || node->op == OP_amax_history) return COMPONENT_COUNT;
    if (is_gradient(m, node)) return gradient_component(m, node);
    for (int i = 0; i < N_FORWARD && node->phase == PHASE_FORWARD; i++) {
        if (strcmp(scope, forward[i].scope) == 0) return forward[i].component;
    }
    return COMPONENT_COUNT;
}

enum { ANY_OP = -1 };

/* One output of each node of that op that is of the component. */
static DTypes of_outputs(const Model *m, int op, Component component, int output)
{
    DTypes dtypes = 0;
    for (int i = 0; i < m->plan.n_nodes; i++) {
        const Node *node = &m->plan.nodes[i];
        if ((op == ANY_OP || (int)node->op == op) && component_dtypes_of_node(m, node) == component)
            dtypes |= one(m, plan_out_id(&m->plan, node, output));
    }
    return dtypes;
}

static DTypes of_products(const Model *m, Component component)
{
    return of_outputs(m, OP_matmul, component, 0) | of_outputs(m, OP_scaled_matmul, component, 0) |
           of_outputs(m, OP_grouped_matmul, component, 0);
}

/* Of every product of a layer's weights, and of the head's. */
static DTypes of_linear(const Model *m)
{
    return of_products(m, COMPONENT_LINEAR) | of_products(m, COMPONENT_FEED_FORWARD) |
           of_products(m, COMPONENT_LOGITS);
}

/* Of the products of the blocks' weights: of those that make outputs, or of those that make gradients. */
static DTypes of_operands(const Model *m, bool gradients, int first)
{
    DTypes dtypes = 0;
    for (int i = 0; i < m->plan.n_nodes; i++) {
        const Node *node = &m->plan.nodes[i];
        const bool wide = node->op == OP_matmul || node->op == OP_grouped_matmul;
        const bool linear = node->op == OP_scaled_matmul || (wide && first == 0);
        if (!linear || node->layer == PLAN_NONE || is_gradient(m, node) != gradients) continue;
        dtypes |= one(m, plan_in_id(&m->plan, node, first)) |
                  one(m, plan_in_id(&m->plan, node, first + 1));
    }
    return dtypes;
}

static DTypes of_statistics(const Model *m, const Node *node)
{
    const Plan *plan = &m->plan;
    if (node->op == OP_rmsnorm || node->op == OP_reduce)
        return one(m, plan_out_id(plan, node, node->op == OP_rmsnorm));
    if (node->op != OP_layernorm) return 0;
    return one(m, plan_out_id(plan, node, 1)) | one(m, plan_out_id(plan, node, 2));
}

/* Norms: one node, or the primitives it was taken apart into. The first reads the input, the last writes
 * the output, and the statistics of a row are what is inside. */
static DTypes of_norms(const Model *m, Component what)
{
    DTypes dtypes = 0;
    const Node *nodes = m->plan.nodes;
    for (int i = 0; i < m->plan.n_nodes; i++) {
        if (component_dtypes_of_node(m, &nodes[i]) != COMPONENT_NORM_OUTPUT) continue;
        const bool first = i == 0 || strcmp(nodes[i - 1].scope, nodes[i].scope) != 0;
        const bool last =
            i + 1 == m->plan.n_nodes || strcmp(nodes[i + 1].scope, nodes[i].scope) != 0;
        if (what == COMPONENT_NORM_INPUT && first)
            dtypes |= one(m, plan_in_id(&m->plan, &nodes[i], 0));
        if (what == COMPONENT_NORM_OUTPUT && last)
            dtypes |= one(m, plan_out_id(&m->plan, &nodes[i], 0));
        if (what == COMPONENT_NORM_INSIDE) dtypes |= of_statistics(m, &nodes[i]);
    }
    return dtypes;
}

/* The product of the head's weight reads it: dw = dlogits^T x. Taken apart, it has no tensor of its kind. */
static DTypes of_logit_gradient(const Model *m)
{
    for (int i = 0; i < m->plan.n_nodes; i++) {
        const Node *node = &m->plan.nodes[i];
        if (is_gradient(m, node) && strcmp(node->scope, "lm_head") == 0)
            return one(m, plan_in_id(&m->plan, node, 0));
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
    const DTypes inside = within ? of_outputs(m, OP_attention, COMPONENT_ATTENTION, 1) : 0;
    return inside ? text_of(inside, ", not in memory") : text_of(dtypes_of(m, component), "");
}
