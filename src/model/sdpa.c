#include "model/sdpa.h"

#include <math.h>

static NodeAttr attributes(const SdpaShape *s, double scale)
{
    const bool shared = s->kv_heads && s->kv_heads != s->H;
    return (NodeAttr){.causal = s->causal,
                      .tokens = s->T,
                      .heads = s->H,
                      .head_dim = shared ? s->D : 0,
                      .window = s->window,
                      .scale = scale};
}

static int result(Builder *b, const Model *m, const SdpaShape *s)
{
    return builder_tensor(b, "attention", TK_ACTIVATION, m->act, DIMS(s->B * s->T, s->H * s->D));
}

static NodeAttr *head_matmul(Builder *b, const SdpaShape *s, int out, int left, int right)
{
    NodeAttr *attr = builder_node(b, OP_bmm, IDS(out), IDS(left, right));
    *attr = attributes(s, 1);
    return attr;
}

/* The scores in memory: `naive`, whose softmax transform_decompose() takes apart, and `fused`. fp16
 * ends at 65504, which q k^T exceeds before it is scaled: there the matmul scales it. */
static int materialised(Builder *b, const Model *m, const SdpaShape *s, int layer, const int qkv[3])
{
    const int scores =
        builder_tensor(b, "scores", TK_ACTIVATION, m->act, DIMS(s->B, s->H, s->T, s->T));
    const double scale = 1 / sqrt((double)s->D);
    const bool at_once = m->act == DT_F16;
    builder_scope(b, layer, "attn/scores");
    NodeAttr *matmul = head_matmul(b, s, scores, qkv[0], qkv[1]);
    matmul->transpose_b = true;
    matmul->scale = at_once ? scale : 1;
    const int p = builder_like(b, "probabilities", scores, m->act);
    builder_scope(b, layer, "attn/softmax");
    *builder_node(b, OP_softmax, IDS(p), IDS(scores)) = attributes(s, at_once ? 1 : scale);
    const int out = result(b, m, s);
    builder_scope(b, layer, "attn/values");
    head_matmul(b, s, out, p, qkv[2]);
    return out;
}

int sdpa_build(Builder *b, const Model *m, const SdpaShape *s, int layer, const int qkv[3])
{
    if (m->attention == ATTENTION_NAIVE || m->attention == ATTENTION_FUSED) {
        return materialised(b, m, s, layer, qkv);
    }
    const int out = result(b, m, s);
    const int lse = builder_tensor(b, "lse", TK_ACTIVATION, m->full_dtype, DIMS(s->B, s->H, s->T));
    builder_scope(b, layer, "attn/attention");
    *builder_node(b, OP_attention, IDS(out, lse), IDS(qkv[0], qkv[1], qkv[2])) =
        attributes(s, 1 / sqrt((double)s->D));
    return out;
}
