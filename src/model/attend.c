#include "model/attend.h"

#include <math.h>

static NodeAttr attributes(const AttendShape *s, double scale)
{
    return (NodeAttr){.causal = s->causal, .tokens = s->T, .heads = s->H, .scale = scale};
}

static int result(Builder *b, const Model *m, const AttendShape *s)
{
    return builder_tensor(b, "attention", TK_ACTIVATION, m->act, DIMS(s->B * s->T, s->H * s->D));
}

static void head_product(Builder *b, const AttendShape *s, int out, int left, int right,
                         bool transpose)
{
    NodeAttr *attr = builder_node(b, OP_bmm, IDS(out), IDS(left, right));
    *attr = attributes(s, 1);
    attr->transpose_b = transpose;
}

/* The scores in memory: `naive`, whose softmax xform_decompose() takes apart, and `fused`. */
static int materialised(Builder *b, const Model *m, const AttendShape *s, int layer,
                        const int qkv[3])
{
    const int scores =
        builder_tensor(b, "scores", TK_ACTIVATION, m->act, DIMS(s->B, s->H, s->T, s->T));
    builder_scope(b, layer, "attn/scores");
    head_product(b, s, scores, qkv[0], qkv[1], true);
    const int p = builder_like(b, "probabilities", scores, m->act);
    builder_scope(b, layer, "attn/softmax");
    *builder_node(b, OP_softmax, IDS(p), IDS(scores)) = attributes(s, 1 / sqrt((double)s->D));
    const int out = result(b, m, s);
    builder_scope(b, layer, "attn/values");
    head_product(b, s, out, p, qkv[2], false);
    return out;
}

int attend(Builder *b, const Model *m, const AttendShape *s, int layer, const int qkv[3])
{
    if (m->attention == ATTENTION_NAIVE || m->attention == ATTENTION_FUSED) {
        return materialised(b, m, s, layer, qkv);
    }
    const int out = result(b, m, s);
    const int lse = builder_tensor(b, "lse", TK_ACTIVATION, m->wide, DIMS(s->B, s->H, s->T));
    builder_scope(b, layer, "attn/attention");
    *builder_node(b, OP_attention, IDS(out, lse), IDS(qkv[0], qkv[1], qkv[2])) =
        attributes(s, 1 / sqrt((double)s->D));
    return out;
}
