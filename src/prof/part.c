#include "prof/part.h"

#include "plan/op_functions.h"

#include <string.h>

const char *part_name(Part part)
{
    static const char *const names[PART_COUNT + 1] = {
#define PART(id, name) name,
#include "prof/parts.def"
    };
    return names[part];
}

const char *part_scope(const Node *node)
{
    const char *slash = node->layer == PLAN_NONE ? NULL : strchr(node->scope, '/');
    return slash ? slash + 1 : node->scope;
}

/* Scaling and masking the scores, which softmax_def.decompose() puts before the softmax proper. */
static bool scales_or_masks(const Node *node)
{
    const bool unary = node->op == OP_unary || node->op == OP_unary_grad;
    return node->op == OP_causal_mask || (unary && node->attr.fn == FN_AFFINE);
}

/* Eager adds the output of attention to the residual stream in a node of its own; otherwise the
 * next norm adds it. */
static bool adds_attention(const Plan *plan, const Node *node, const char *scope)
{
    if (node->op != OP_binary || node->attr.fn != FN_ADD || node->phase != PHASE_FORWARD)
        return false;
    /* LayerNorm adds its bias, too */
    return strcmp(scope, "ffn/ln2") == 0 && plan_in(plan, node, 1)->kind != TK_PARAM;
}

Part part_of(const Plan *plan, const Node *node)
{
    static const struct {
        const char *scope;
        Part part;
    } scopes[] = {
        {"attn/qkv", PART_QKV},        {"attn/norm_q", PART_NORMS},    {"attn/norm_k", PART_NORMS},
        {"attn/rope_q", PART_ROPE_Q},  {"attn/rope_k", PART_ROPE_K},   {"attn/rope", PART_ROPE},
        {"attn/scores", PART_SCORES},  {"attn/softmax", PART_SOFTMAX}, {"attn/values", PART_VALUES},
        {"attn/attention", PART_CORE}, {"attn/output", PART_OUTPUT},
    };
    const char *scope = part_scope(node);
    if (adds_attention(plan, node, scope)) return PART_RESIDUAL;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (strcmp(scope, scopes[i].scope) != 0) continue;
        return scopes[i].part == PART_SOFTMAX && scales_or_masks(node) ? PART_SCORES
                                                                       : scopes[i].part;
    }
    return PART_COUNT;
}

OpCategory part_category(const Plan *plan, const Node *node)
{
    return part_of(plan, node) == PART_SOFTMAX ? CATEGORY_softmax : plan_op_category(node->op);
}
