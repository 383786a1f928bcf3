/* A plan of attention alone, forward and backward, with q, k, v and their gradients packed as the model
 * has them. */
#pragma once

#include "exec/session.h"

#include <math.h>
#include <string.h>

typedef struct AttentionShape {
    int64_t B, H, T, D;
    bool causal, tf32;
    double scale; /* 0: 1 / sqrt(D) */
    DType dtype;
    int64_t kv_heads; /* 0: H */
    int64_t window;   /* 0: none */
} AttentionShape;

static inline int64_t attention_plan_kv_heads(const AttentionShape *s)
{
    return s->kv_heads ? s->kv_heads : s->H;
}

typedef struct AttentionPlan {
    Plan plan;
    int qkv, out, lse, dout, dqkv;
} AttentionPlan;

/* "fp32", "tf32", "bf16" or "fp16"; false for another name. */
static inline bool attention_plan_precision(const char *name, AttentionShape *s)
{
    static const struct {
        const char *name;
        DType dtype;
    } names[] = {{"fp32", DT_F32}, {"tf32", DT_F32}, {"bf16", DT_BF16}, {"fp16", DT_F16}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, name) != 0) continue;
        s->dtype = names[i].dtype;
        s->tf32 = i == 1;
        return true;
    }
    return false;
}

static inline Status attention_plan_make(AttentionPlan *p, const AttentionShape *s)
{
    const int64_t N = s->B * s->T, C = s->H * s->D, K = attention_plan_kv_heads(s) * s->D;
    const int64_t width[] = {C, K, K}, offset[] = {0, C, C + K};
    const double scale = s->scale > 0 ? s->scale : 1 / sqrt((double)s->D);
    const NodeAttr attr = {.heads = s->H,
                           .tokens = s->T,
                           .head_dim = K == C ? 0 : s->D,
                           .window = s->window,
                           .causal = s->causal,
                           .tf32 = s->tf32,
                           .scale = scale};
    Builder b;
    int part[3];
    p->plan = (Plan){0};
    builder_init(&b, &p->plan);
    p->qkv = builder_tensor(&b, "qkv", TK_ACTIVATION, s->dtype, DIMS(N, C + 2 * K));
    for (int i = 0; i < 3; i++) {
        part[i] = builder_view(&b, "part", p->qkv, offset[i], DIMS(N, width[i]), C + 2 * K);
    }
    p->out = builder_like(&b, "out", part[0], s->dtype);
    p->dout = builder_like(&b, "dout", part[0], s->dtype);
    p->lse = builder_tensor(&b, "lse", TK_ACTIVATION, DT_F32, DIMS(s->B, s->H, s->T));
    *builder_node(&b, OP_attention, IDS(p->out, p->lse), IDS(part[0], part[1], part[2])) = attr;
    b.phase = PHASE_BACKWARD;
    builder_grad_add(&b, p->out, p->dout);
    if (b.status == ST_OK) {
        const Node forward = p->plan.nodes[0];
        op_def(OP_attention)->grad(&b, &forward);
    }
    if (b.status == ST_OK) {
        p->dqkv = plan_storage(&p->plan, builder_grad(&b, part[0]));
        for (int i = 0; i < p->plan.n_tensors; i++) p->plan.tensors[i].keep = true;
    }
    const Status status = b.status;
    builder_free(&b);
    return status;
}
