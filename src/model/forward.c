/* The forward pass, block by block: what shared names in the plan mean is written here.
 *
 *     x += attn(rmsnorm(x)); x += ffn(rmsnorm(x))
 *
 * The addition is part of the norm that follows it, so a block hands on (x, delta) not yet summed. */
#include "model/sdpa.h"
#include "model/stages.h"
#include "plan/step_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double norm_eps = 1e-5;

typedef struct Sizes {
    int64_t B, T, N, C, H, D, F, V;
} Sizes;

typedef struct Block {
    int ln1, q, k, v, output, ln2, w1, w3, w2;
} Block;

/* The residual stream: x, and what is still to be added to it. */
typedef struct Stream {
    int x, delta;
} Stream;

static Sizes sizes_of(const Config *c)
{
    return (Sizes){.B = c->batch,
                   .T = c->ctx,
                   .N = c->batch * c->ctx,
                   .C = c->model.d_model,
                   .H = c->model.num_heads,
                   .D = c->model.d_model / c->model.num_heads,
                   .F = c->model.d_ff,
                   .V = c->model.vocab};
}

static int linear_param(Builder *b, Model *m, const char *name, int64_t out, int64_t in)
{
    return params_add(b, m, name, out, in, INIT_NORMAL, sqrt(2.0 / (double)(in + out)));
}

static const char *layer_name(char buffer[64], int layer, const char *tail)
{
    snprintf(buffer, 64, "layers.%d.%s", layer, tail);
    return buffer;
}

/* q, k, v and w1, w3 lie side by side, so that transform_fuse() can make one matrix of each set. */
static Block block_params(Builder *b, Model *m, const Sizes *s, int layer)
{
    Block p = {0};
    char name[64];
    params_group(b, m, layer_name(name, layer, "norms"), 2 * s->C, false);
    p.ln1 = params_add(b, m, layer_name(name, layer, "ln1"), 0, s->C, INIT_ONES, 0);
    p.ln2 = params_add(b, m, layer_name(name, layer, "ln2"), 0, s->C, INIT_ONES, 0);
    const int64_t weights = 4 * s->C * s->C + 3 * s->C * s->F;
    params_group(b, m, layer_name(name, layer, "weights"), weights, true);
    p.q = linear_param(b, m, layer_name(name, layer, "attn.q_proj"), s->C, s->C);
    p.k = linear_param(b, m, layer_name(name, layer, "attn.k_proj"), s->C, s->C);
    p.v = linear_param(b, m, layer_name(name, layer, "attn.v_proj"), s->C, s->C);
    p.output = linear_param(b, m, layer_name(name, layer, "attn.output_proj"), s->C, s->C);
    p.w1 = linear_param(b, m, layer_name(name, layer, "ffn.w1"), s->F, s->C);
    p.w3 = linear_param(b, m, layer_name(name, layer, "ffn.w3"), s->F, s->C);
    p.w2 = linear_param(b, m, layer_name(name, layer, "ffn.w2"), s->C, s->F);
    return p;
}

static void inputs(Builder *b, Model *m, const Sizes *s)
{
    m->tokens = builder_tensor(b, "tokens", TK_INPUT, DT_I32, DIMS(s->B, s->T));
    m->targets = builder_tensor(b, "targets", TK_INPUT, DT_I32, DIMS(s->B, s->T));
    m->rope_cos = builder_tensor(b, "rope cos", TK_CONSTANT, m->full_dtype, DIMS(s->T, s->D / 2));
    m->rope_sin = builder_tensor(b, "rope sin", TK_CONSTANT, m->full_dtype, DIMS(s->T, s->D / 2));
    if (config_mode_saves(m->mode)) {
        m->state = builder_tensor(b, "step state", TK_STATE, DT_F64, DIMS(STATE_COUNT));
    }
}

/* y = x w^T. A weight without a 16-bit copy is cast first, in every step. */
static int linear(Builder *b, const Model *m, const char *name, int x, int w)
{
    const int64_t out = builder_at(b, w)->dim[0];
    if (builder_dtype(b, w) != m->act) {
        const int cast = builder_like(b, "weight cast", w, m->act);
        builder_node(b, OP_cast, IDS(cast), IDS(w));
        w = cast;
    }
    const int y =
        builder_tensor(b, name, TK_ACTIVATION, m->act, DIMS(plan_rows(builder_at(b, x)), out));
    builder_node(b, OP_matmul, IDS(y), IDS(x, w))->transpose_b = true;
    return y;
}

/* Adds what is pending to the stream and returns its norm. */
static int norm(Builder *b, const Model *m, const char *name, Stream *stream, int weight)
{
    const int64_t rows = plan_rows(builder_at(b, stream->x));
    const int y = builder_like(b, name, stream->x, m->act);
    const int r = builder_tensor(b, "rstd", TK_ACTIVATION, m->full_dtype, DIMS(rows, 1));
    const int sum = stream->delta == PLAN_NONE
                        ? PLAN_NONE
                        : builder_like(b, "residual", stream->x, m->full_dtype);
    builder_node(b, OP_rmsnorm, IDS(y, r, sum), IDS(stream->x, weight, stream->delta))->shift =
        norm_eps;
    if (sum != PLAN_NONE) *stream = (Stream){sum, PLAN_NONE};
    return y;
}

static int rope(Builder *b, const Model *m, const Sizes *s, int x)
{
    const int y = builder_like(b, "rotated", x, m->act);
    *builder_node(b, OP_rope, IDS(y), IDS(x, m->rope_cos, m->rope_sin, PLAN_NONE, PLAN_NONE)) =
        (NodeAttr){.heads = s->H, .tokens = s->T};
    return y;
}

/* q, k, v after RoPE. */
static void project(Builder *b, const Model *m, const Sizes *s, const Block *p, int layer, int y,
                    int qkv[3])
{
    builder_scope(b, layer, "attn/qkv");
    qkv[0] = linear(b, m, "q", y, p->q);
    qkv[1] = linear(b, m, "k", y, p->k);
    qkv[2] = linear(b, m, "v", y, p->v);
    builder_scope(b, layer, "attn/rope_q");
    qkv[0] = rope(b, m, s, qkv[0]);
    builder_scope(b, layer, "attn/rope_k");
    qkv[1] = rope(b, m, s, qkv[1]);
}

static int feed_forward(Builder *b, const Model *m, const Sizes *s, const Block *p, int layer,
                        int y)
{
    const int gated = builder_tensor(b, "gated", TK_ACTIVATION, m->act, DIMS(s->N, s->F));
    builder_scope(b, layer, "ffn/w13");
    const int h1 = linear(b, m, "h1", y, p->w1), h3 = linear(b, m, "h3", y, p->w3);
    builder_scope(b, layer, "ffn/swiglu");
    builder_node(b, OP_swiglu, IDS(gated), IDS(h1, h3));
    builder_scope(b, layer, "ffn/w2");
    return linear(b, m, "ffn", gated, p->w2);
}

static void block(Builder *b, Model *m, const Sizes *s, const Block *p, int layer, Stream *stream)
{
    int qkv[3];
    builder_scope(b, layer, "attn/ln1");
    const int y = norm(b, m, "ln1", stream, p->ln1);
    m->stream[layer] = stream->x;
    project(b, m, s, p, layer, y, qkv);
    const SdpaShape shape = {.B = s->B, .T = s->T, .H = s->H, .D = s->D, .causal = true};
    const int mixed = sdpa_build(b, m, &shape, layer, qkv);
    builder_scope(b, layer, "attn/output");
    stream->delta = linear(b, m, "attn", mixed, p->output);
    builder_scope(b, layer, "ffn/ln2");
    const int z = norm(b, m, "ln2", stream, p->ln2);
    stream->delta = feed_forward(b, m, s, p, layer, z);
}

static void loss(Builder *b, Model *m, const Sizes *s, int y, int head)
{
    builder_scope(b, PLAN_NONE, "lm_head");
    m->logits = linear(b, m, "logits", y, head);
    if (b->status == ST_OK) b->plan->tensors[m->logits].kind = TK_LOGITS;
    builder_scope(b, PLAN_NONE, "loss");
    m->loss = builder_tensor(b, "loss", TK_ACTIVATION, m->full_dtype, DIMS(1));
    const int lse = config_mode_saves(m->mode)
                        ? builder_tensor(b, "loss lse", TK_ACTIVATION, m->full_dtype, DIMS(s->N, 1))
                        : PLAN_NONE;
    builder_node(b, OP_cross_entropy, IDS(m->loss, lse), IDS(m->logits, m->targets));
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

/* Parameters are numbered in this order, which fixes their random streams. */
static Status all_params(Builder *b, Model *m, const Sizes *s, int *table, Block *blocks, int *ln,
                         int *head)
{
    params_group(b, m, "token_embedding", s->V * s->C, false);
    *table = params_add(b, m, "token_embedding", s->V, s->C, INIT_NORMAL, 1);
    for (int l = 0; l < m->config.model.num_layers; l++) blocks[l] = block_params(b, m, s, l);
    params_group(b, m, "ln_final", s->C, false);
    *ln = params_add(b, m, "ln_final", 0, s->C, INIT_ONES, 0);
    params_group(b, m, "lm_head", s->V * s->C, true);
    *head = linear_param(b, m, "lm_head", s->V, s->C);
    return b->status;
}

static void build(Builder *b, Model *m, const Sizes *s, Block *blocks)
{
    int table = PLAN_NONE, ln = PLAN_NONE, head = PLAN_NONE;
    inputs(b, m, s);
    if (all_params(b, m, s, &table, blocks, &ln, &head) != ST_OK) return;
    setup(b, m);
    builder_scope(b, PLAN_NONE, "embedding");
    Stream stream = {.delta = PLAN_NONE};
    stream.x = builder_tensor(b, "embedded", TK_ACTIVATION, m->full_dtype, DIMS(s->N, s->C));
    builder_node(b, OP_embedding, IDS(stream.x), IDS(table, m->tokens));
    for (int l = 0; l < m->config.model.num_layers; l++) block(b, m, s, &blocks[l], l, &stream);
    builder_scope(b, PLAN_NONE, "ln_final");
    const int y = norm(b, m, "ln_final", &stream, ln);
    loss(b, m, s, y, head);
}

void forward_build(Builder *b, Model *model)
{
    const Sizes s = sizes_of(&model->config);
    Block *blocks = calloc((size_t)model->config.model.num_layers + 1, sizeof *blocks);
    model->stream = calloc((size_t)model->config.model.num_layers + 1, sizeof *model->stream);
    if (!blocks || !model->stream) {
        free(blocks);
        b->status = NO_MEMORY("for %lld layers", (long long)model->config.model.num_layers);
        return;
    }
    build(b, model, &s, blocks);
    free(blocks);
}
