#include "model/model_params.h"

#include "model/stages.h"

#include <math.h>
#include <stdio.h>

/* Not zero: a step that forgot its biases must not give the same numbers. */
static const double bias_std = 0.02;

typedef struct Adding {
    Builder *b;
    Model *m;
    const ModelSpec *spec;
    int layer;        /* PLAN_NONE outside the blocks */
    int64_t q, kv, D; /* widths of q, of k and v, of a head */
} Adding;

typedef struct ParamName {
    char s[64];
} ParamName;

static ParamName full_name(const Adding *a, const char *name)
{
    ParamName full;
    if (a->layer == PLAN_NONE) {
        snprintf(full.s, sizeof full.s, "%s", name);
    } else {
        snprintf(full.s, sizeof full.s, "layers.%d.%s", a->layer, name);
    }
    return full;
}

static void group(const Adding *a, const char *name, int64_t elements, bool matmul)
{
    params_group(a->b, a->m, full_name(a, name).s, elements, matmul);
}

static int add(const Adding *a, const char *name, int64_t rows, int64_t cols, ParamInit init,
               double std)
{
    return params_add(a->b, a->m, full_name(a, name).s, rows, cols, init, std);
}

static int weight(const Adding *a, const char *name, int64_t out, int64_t in)
{
    return add(a, name, out, in, INIT_NORMAL, sqrt(2.0 / (double)(in + out)));
}

static int bias(const Adding *a, bool wanted, const char *name, int64_t n)
{
    return wanted ? add(a, name, 0, n, INIT_NORMAL, bias_std) : PLAN_NONE;
}

static int norm_weight(const Adding *a, bool wanted, const char *name, int64_t n)
{
    return wanted ? add(a, name, 0, n, INIT_ONES, 0) : PLAN_NONE;
}

static int64_t norm_elements(const Adding *a)
{
    return a->spec->d_model * (a->spec->norm == NORM_LAYER ? 2 : 1);
}

static NormParams norm(const Adding *a, const char *name, const char *bias_name)
{
    const int64_t C = a->spec->d_model;
    const int w = norm_weight(a, true, name, C);
    return (NormParams){w, bias(a, a->spec->norm == NORM_LAYER, bias_name, C)};
}

static void block_norms(const Adding *a, BlockParams *p)
{
    const bool heads = a->spec->qk_norm;
    group(a, "norms", 2 * norm_elements(a) + (heads ? 2 * a->D : 0), false);
    p->ln1 = norm(a, "ln1", "ln1_bias");
    p->ln2 = norm(a, "ln2", "ln2_bias");
    p->q_norm = norm_weight(a, heads, "attn.q_norm", a->D);
    p->k_norm = norm_weight(a, heads, "attn.k_norm", a->D);
}

static int64_t attention_elements(const Adding *a)
{
    const ModelSpec *s = a->spec;
    return s->d_model * (2 * a->q + 2 * a->kv) + (s->qkv_bias ? a->q + 2 * a->kv : 0) +
           (s->output_bias ? s->d_model : 0);
}

static int64_t feed_forward_elements(const ModelSpec *s)
{
    const int64_t C = s->d_model, F = s->d_ff,
                  firsts = s->feed_forward == FEED_FORWARD_SWIGLU ? 2 : 1;
    return (firsts + 1) * C * F + (s->feed_forward_bias ? firsts * F + C : 0);
}

static void feed_forward(const Adding *a, BlockParams *p)
{
    const ModelSpec *s = a->spec;
    const int64_t C = s->d_model, F = s->d_ff;
    const bool gated = s->feed_forward == FEED_FORWARD_SWIGLU;
    p->router = PLAN_NONE;
    p->w1.weight = weight(a, "ffn.w1", F, C);
    p->w3.weight = gated ? weight(a, "ffn.w3", F, C) : PLAN_NONE;
    p->w2.weight = weight(a, "ffn.w2", C, F);
}

static void feed_forward_biases(const Adding *a, BlockParams *p)
{
    const ModelSpec *s = a->spec;
    const bool gated = s->feed_forward == FEED_FORWARD_SWIGLU;
    p->w1.bias = bias(a, s->feed_forward_bias, "ffn.w1_bias", s->d_ff);
    p->w3.bias = bias(a, s->feed_forward_bias && gated, "ffn.w3_bias", s->d_ff);
    p->w2.bias = bias(a, s->feed_forward_bias, "ffn.w2_bias", s->d_model);
}

static int64_t experts_elements(const ModelSpec *s)
{
    return s->num_experts * s->d_model * (1 + 3 * model_spec_expert_ff(s));
}

/* A matrix of each expert, one after the other. */
static Linear expert_weights(const Adding *a, const char *name, int64_t out, int64_t in)
{
    const double std = sqrt(2.0 / (double)(in + out));
    return (Linear){add(a, name, a->spec->num_experts * out, in, INIT_NORMAL, std), PLAN_NONE};
}

/* Without biases, in files of every class. */
static void experts(const Adding *a, BlockParams *p)
{
    const int64_t C = a->spec->d_model, F = model_spec_expert_ff(a->spec);
    p->router = weight(a, "ffn.router", a->spec->num_experts, C);
    p->w1 = expert_weights(a, "ffn.experts.w1", F, C);
    p->w3 = expert_weights(a, "ffn.experts.w3", F, C);
    p->w2 = expert_weights(a, "ffn.experts.w2", C, F);
}

/* q, k, v and w1, w3 lie side by side, and so do their biases: transform_fuse() makes one matrix of
 * each set. */
static void block_weights(const Adding *a, BlockParams *p)
{
    const ModelSpec *s = a->spec;
    const int64_t C = s->d_model;
    const bool sparse = model_spec_has_experts(s, a->layer);
    group(a, "weights",
          attention_elements(a) + (sparse ? experts_elements(s) : feed_forward_elements(s)), true);
    p->q.weight = weight(a, "attn.q_proj", a->q, C);
    p->k.weight = weight(a, "attn.k_proj", a->kv, C);
    p->v.weight = weight(a, "attn.v_proj", a->kv, C);
    p->output.weight = weight(a, "attn.output_proj", C, a->q);
    if (sparse) {
        experts(a, p);
    } else {
        feed_forward(a, p);
    }
    p->q.bias = bias(a, s->qkv_bias, "attn.q_bias", a->q);
    p->k.bias = bias(a, s->qkv_bias, "attn.k_bias", a->kv);
    p->v.bias = bias(a, s->qkv_bias, "attn.v_bias", a->kv);
    p->output.bias = bias(a, s->output_bias, "attn.output_bias", C);
    if (!sparse) feed_forward_biases(a, p);
}

static void embeddings(const Adding *a, ModelParams *params)
{
    const ModelSpec *s = a->spec;
    const double std = s->architecture == ARCHITECTURE_OWN ? 1 : 0.02;
    group(a, "token_embedding", s->vocab * s->d_model, s->tied);
    params->token_embedding = add(a, "token_embedding", s->vocab, s->d_model, INIT_NORMAL, std);
    params->position_embedding = PLAN_NONE;
    if (s->position != POSITION_LEARNED) return;
    group(a, "position_embedding", s->positions * s->d_model, false);
    params->position_embedding =
        add(a, "position_embedding", s->positions, s->d_model, INIT_NORMAL, std);
}

void model_params_add(Builder *b, Model *model, ModelParams *params)
{
    const ModelSpec *s = &model->config.model;
    const int64_t D = model_spec_head_dim(s);
    Adding a = {.b = b, .m = model, .spec = s, .layer = PLAN_NONE, .D = D};
    a.q = s->num_heads * D;
    a.kv = model_spec_kv_heads(s) * D;
    embeddings(&a, params);
    for (a.layer = 0; a.layer < s->num_layers; a.layer++) {
        block_norms(&a, &params->blocks[a.layer]);
        block_weights(&a, &params->blocks[a.layer]);
    }
    a.layer = PLAN_NONE;
    group(&a, "ln_final", norm_elements(&a), false);
    params->ln_final = norm(&a, "ln_final", "ln_final_bias");
    params->lm_head = params->token_embedding;
    if (s->tied) return;
    group(&a, "lm_head", s->vocab * s->d_model, true);
    params->lm_head = weight(&a, "lm_head", s->vocab, s->d_model);
}
