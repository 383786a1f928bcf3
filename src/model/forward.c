/* The forward pass, block by block: what shared names in the plan mean is written here.
 *
 *     x += attn(norm(x)); x += ffn(norm(x))            or at once: x += attn(norm1(x)) + ffn(norm2(x))
 *
 * The addition is part of the norm that follows it, so a block hands on (x, delta) not yet summed. */
#include "model/expert_layers.h"
#include "model/linear.h"
#include "model/sdpa.h"
#include "model/stages.h"
#include "plan/op_functions.h"
#include "plan/step_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Sizes {
    int64_t B, T, N, C, H, F;
    int64_t micro_batches;  /* before the optimizer */
    int64_t Hkv, D, rotary; /* heads of k and v; width of a head; of which RoPE turns */
} Sizes;

/* The residual stream: x, and what is still to be added to it. */
typedef struct Stream {
    int x, delta;
} Stream;

static Sizes sizes_of(const Config *c)
{
    return (Sizes){.B = c->batch,
                   .T = c->ctx,
                   .N = c->batch * c->ctx,
                   .micro_batches = c->accumulate > 1 ? c->accumulate : 1,
                   .C = c->model.d_model,
                   .H = c->model.num_heads,
                   .F = c->model.d_ff,
                   .Hkv = model_spec_kv_heads(&c->model),
                   .D = model_spec_head_dim(&c->model),
                   .rotary = model_spec_rotary_dim(&c->model)};
}

static void inputs(Builder *b, Model *m, const Sizes *s)
{
    const int64_t rows = s->B * s->micro_batches;
    m->tokens = builder_tensor(b, "tokens", TK_INPUT, DT_I32, DIMS(rows, s->T));
    m->targets = builder_tensor(b, "targets", TK_INPUT, DT_I32, DIMS(rows, s->T));
    if (m->config.model.position != POSITION_LEARNED) {
        const int64_t pairs = s->rotary / 2;
        m->rope_cos = builder_tensor(b, "rope cos", TK_CONSTANT, m->full_dtype, DIMS(s->T, pairs));
        m->rope_sin = builder_tensor(b, "rope sin", TK_CONSTANT, m->full_dtype, DIMS(s->T, pairs));
    }
    if (config_mode_saves(m->mode) || s->micro_batches > 1) {
        m->state = builder_tensor(b, "step state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    }
}

/* The rows of the batch that this pass takes: all, or those of the next micro-batch. */
static void micro_batch(Builder *b, Model *m, const Sizes *s)
{
    m->micro_tokens = m->tokens;
    m->micro_targets = m->targets;
    if (s->micro_batches <= 1) return;
    builder_scope(b, PLAN_NONE, "embedding");
    m->micro_tokens = builder_tensor(b, "micro-batch", TK_INPUT, DT_I32, DIMS(s->B, s->T));
    m->micro_targets = builder_tensor(b, "its targets", TK_INPUT, DT_I32, DIMS(s->B, s->T));
    builder_node(b, OP_micro_batch, IDS(m->micro_tokens, m->micro_targets, m->state),
                 IDS(m->tokens, m->targets, m->state));
}

/* Adds what is pending to the stream and returns its norm. */
static int norm(Builder *b, const Model *m, const char *name, Stream *stream, NormParams p)
{
    const int64_t rows = plan_rows(builder_at(b, stream->x));
    const bool layer = m->config.model.norm == NORM_LAYER;
    const int y = builder_like(b, name, stream->x, m->act);
    const int mean =
        layer ? builder_tensor(b, "mean", TK_ACTIVATION, m->full_dtype, DIMS(rows, 1)) : PLAN_NONE;
    const int r = builder_tensor(b, "rstd", TK_ACTIVATION, m->full_dtype, DIMS(rows, 1));
    const int sum = stream->delta == PLAN_NONE
                        ? PLAN_NONE
                        : builder_like(b, "residual", stream->x, m->full_dtype);
    NodeAttr *attr = layer ? builder_node(b, OP_layernorm, IDS(y, mean, r, sum),
                                          IDS(stream->x, p.weight, p.bias, stream->delta))
                           : builder_node(b, OP_rmsnorm, IDS(y, r, sum),
                                          IDS(stream->x, p.weight, stream->delta));
    attr->shift = m->config.model.norm_eps;
    if (sum != PLAN_NONE) *stream = (Stream){sum, PLAN_NONE};
    return y;
}

/* RMSNorm of each head of q or k. */
static int head_norm(Builder *b, const Model *m, int64_t heads, int x, int weight)
{
    const int64_t rows = plan_rows(builder_at(b, x));
    const int y = builder_like(b, "normed", x, m->act);
    const int r = builder_tensor(b, "head rstd", TK_ACTIVATION, m->full_dtype, DIMS(rows, heads));
    *builder_node(b, OP_head_norm, IDS(y, r), IDS(x, weight)) =
        (NodeAttr){.heads = heads, .shift = m->config.model.norm_eps};
    return y;
}

static int rope(Builder *b, const Model *m, const Sizes *s, int64_t heads, int x)
{
    const bool halves = m->config.model.position == POSITION_HALVES;
    const int y = builder_like(b, "rotated", x, m->act);
    *builder_node(b, OP_rope, IDS(y), IDS(x, m->rope_cos, m->rope_sin, PLAN_NONE, PLAN_NONE)) =
        (NodeAttr){.heads = heads,
                   .tokens = s->T,
                   .halves = halves,
                   .head_dim = halves ? s->D : 0,
                   .rotary = s->rotary < s->D ? s->rotary : 0};
    return y;
}

/* q, k, v as attention reads them: after the norm of each head, and after RoPE. */
static void project(Builder *b, const Model *m, const Sizes *s, const BlockParams *p, int layer,
                    int y, int qkv[3])
{
    builder_scope(b, layer, "attn/qkv");
    qkv[0] = linear_build(b, m, "q", y, p->q);
    qkv[1] = linear_build(b, m, "k", y, p->k);
    qkv[2] = linear_build(b, m, "v", y, p->v);
    if (p->q_norm != PLAN_NONE) {
        builder_scope(b, layer, "attn/norm_q");
        qkv[0] = head_norm(b, m, s->H, qkv[0], p->q_norm);
        builder_scope(b, layer, "attn/norm_k");
        qkv[1] = head_norm(b, m, s->Hkv, qkv[1], p->k_norm);
    }
    if (m->rope_cos == PLAN_NONE) return;
    builder_scope(b, layer, "attn/rope_q");
    qkv[0] = rope(b, m, s, s->H, qkv[0]);
    builder_scope(b, layer, "attn/rope_k");
    qkv[1] = rope(b, m, s, s->Hkv, qkv[1]);
}

static int attention(Builder *b, const Model *m, const Sizes *s, const BlockParams *p, int layer,
                     int y)
{
    const ModelSpec *spec = &m->config.model;
    const bool windowed = spec->window && spec->window < s->T && layer >= spec->window_from;
    const SdpaShape shape = {.B = s->B,
                             .T = s->T,
                             .H = s->H,
                             .D = s->D,
                             .kv_heads = s->Hkv,
                             .window = windowed ? spec->window : 0,
                             .causal = true};
    int qkv[3];
    project(b, m, s, p, layer, y, qkv);
    const int mixed = sdpa_build(b, m, &shape, layer, qkv);
    builder_scope(b, layer, "attn/output");
    return linear_build(b, m, "attn", mixed, p->output);
}

static int activation(Builder *b, const Model *m, const Sizes *s, const BlockParams *p, int layer,
                      int y)
{
    const FeedForward kind = m->config.model.feed_forward;
    const bool gated = kind == FEED_FORWARD_SWIGLU;
    const int out =
        builder_tensor(b, gated ? "gated" : "activated", TK_ACTIVATION, m->act, DIMS(s->N, s->F));
    if (gated) {
        builder_scope(b, layer, "ffn/w13");
        const int h1 = linear_build(b, m, "h1", y, p->w1), h3 = linear_build(b, m, "h3", y, p->w3);
        builder_scope(b, layer, "ffn/swiglu");
        builder_node(b, OP_swiglu, IDS(out), IDS(h1, h3));
        return out;
    }
    builder_scope(b, layer, "ffn/w1");
    const int h1 = linear_build(b, m, "h1", y, p->w1);
    builder_scope(b, layer, "ffn/gelu");
    builder_node(b, OP_unary, IDS(out), IDS(h1))->fn =
        kind == FEED_FORWARD_GELU_TANH ? FN_GELU_TANH : FN_GELU_ERF;
    return out;
}

static int feed_forward(Builder *b, Model *m, const Sizes *s, const BlockParams *p, int layer,
                        int y)
{
    if (p->router != PLAN_NONE) return expert_layers_build(b, m, p, layer, y);
    const int activated = activation(b, m, s, p, layer, y);
    builder_scope(b, layer, "ffn/w2");
    return linear_build(b, m, "ffn", activated, p->w2);
}

/* Both read the stream as the block found it. */
static void parallel_block(Builder *b, Model *m, const Sizes *s, const BlockParams *p, int layer,
                           int y, Stream *stream)
{
    const int attn = attention(b, m, s, p, layer, y);
    builder_scope(b, layer, "ffn/ln2");
    const int ffn = feed_forward(b, m, s, p, layer, norm(b, m, "ln2", stream, p->ln2));
    builder_scope(b, layer, "ffn/add");
    stream->delta = builder_like(b, "attn+ffn", attn, m->act);
    builder_node(b, OP_binary, IDS(stream->delta), IDS(attn, ffn))->fn = FN_ADD;
}

static void block(Builder *b, Model *m, const Sizes *s, const BlockParams *p, int layer,
                  Stream *stream)
{
    builder_scope(b, layer, "attn/ln1");
    const int y = norm(b, m, "ln1", stream, p->ln1);
    m->stream[layer] = stream->x;
    m->experts[layer] = (ExpertLayer){PLAN_NONE, PLAN_NONE};
    if (m->config.model.parallel_residual) {
        parallel_block(b, m, s, p, layer, y, stream);
        return;
    }
    stream->delta = attention(b, m, s, p, layer, y);
    builder_scope(b, layer, "ffn/ln2");
    const int z = norm(b, m, "ln2", stream, p->ln2);
    stream->delta = feed_forward(b, m, s, p, layer, z);
}

static void loss(Builder *b, Model *m, const Sizes *s, int y, int head)
{
    builder_scope(b, PLAN_NONE, "lm_head");
    m->logits = linear_build(b, m, "logits", y, (Linear){head, PLAN_NONE});
    if (b->status == ST_OK) b->plan->tensors[m->logits].kind = TK_LOGITS;
    builder_scope(b, PLAN_NONE, "loss");
    m->loss = builder_tensor(b, "loss", TK_ACTIVATION, m->full_dtype, DIMS(1));
    const int lse = config_mode_saves(m->mode)
                        ? builder_tensor(b, "loss lse", TK_ACTIVATION, m->full_dtype, DIMS(s->N, 1))
                        : PLAN_NONE;
    builder_node(b, OP_cross_entropy, IDS(m->loss, lse), IDS(m->logits, m->micro_targets));
    if (b->status == ST_OK) b->plan->tensors[m->loss].keep = true;
}

/* Fills the 16-bit copies before the first step; afterwards the optimizer keeps them. Those that
 * are halves of their parameters are there with them. */
static void setup(Builder *b, const Model *m)
{
    b->phase = PHASE_SETUP;
    builder_scope(b, PLAN_NONE, "copies");
    for (int i = 0; i < m->n_groups; i++) {
        if (m->groups[i].copy == PLAN_NONE) continue;
        if (builder_dtype(b, m->groups[i].flat) == DT_LOW16) continue;
        builder_node(b, OP_cast, IDS(m->groups[i].copy), IDS(m->groups[i].flat));
    }
    b->phase = PHASE_FORWARD;
}

/* x = table[tokens] + positions. */
static int embed(Builder *b, const Model *m, const Sizes *s, const ModelParams *p)
{
    builder_scope(b, PLAN_NONE, "embedding");
    const int x = builder_tensor(b, "embedded", TK_ACTIVATION, m->full_dtype, DIMS(s->N, s->C));
    if (p->position_embedding == PLAN_NONE) {
        builder_node(b, OP_embedding, IDS(x), IDS(p->token_embedding, m->micro_tokens));
    } else {
        builder_node(b, OP_embedding, IDS(x),
                     IDS(p->token_embedding, m->micro_tokens, p->position_embedding))
            ->tokens = s->T;
    }
    return x;
}

static void build(Builder *b, Model *m, const Sizes *s, ModelParams *p)
{
    inputs(b, m, s);
    model_params_add(b, m, p);
    if (b->status != ST_OK) return;
    setup(b, m);
    micro_batch(b, m, s);
    expert_layers_inputs(b, m, s->N);
    Stream stream = {.x = embed(b, m, s, p), .delta = PLAN_NONE};
    for (int l = 0; l < m->config.model.num_layers; l++) block(b, m, s, &p->blocks[l], l, &stream);
    builder_scope(b, PLAN_NONE, "ln_final");
    const int y = norm(b, m, "ln_final", &stream, p->ln_final);
    loss(b, m, s, y, p->lm_head);
}

void forward_build(Builder *b, Model *model)
{
    const Sizes s = sizes_of(&model->config);
    const size_t layers = (size_t)model->config.model.num_layers + 1;
    ModelParams params = {.blocks = calloc(layers, sizeof *params.blocks)};
    model->stream = calloc(layers, sizeof *model->stream);
    model->experts = calloc(layers, sizeof *model->experts);
    if (params.blocks && model->stream && model->experts) {
        build(b, model, &s, &params);
    } else {
        b->status = NO_MEMORY("for %lld layers", (long long)model->config.model.num_layers);
    }
    free(params.blocks);
}
