#include "model/attention_alone.h"

#include "model/sdpa.h"

static void keep(Builder *b, int tensor)
{
    if (b->status == ST_OK) b->plan->tensors[tensor].keep = true;
}

static int input(Builder *b, const Model *m, const char *name, TensorKind kind, int64_t heads)
{
    const Config *c = &m->config;
    return builder_tensor(b, name, kind, m->act, DIMS(c->batch * c->ctx, heads * c->d_head));
}

/* Memory is set aside for every input. Where backward is planned but not run, no node reads this one. */
static TensorKind dout_kind(Mode mode)
{
    return config_mode_has_backward(mode) ? TK_INPUT : TK_GRAD;
}

/* A gradient that is wanted after the step, as that of a parameter is. */
static int gradient(Builder *b, const Model *m, const char *name, int of)
{
    const Tensor t = *builder_at(b, of);
    const int grad = builder_tensor(b, name, TK_GRAD, m->act, t.n_dims, t.dim);
    keep(b, grad);
    builder_grad_buffer(b, of, grad);
    return grad;
}

void attention_alone_forward(Builder *b, Model *model)
{
    static const char *const names[3] = {"q", "k", "v"}, *const grads[3] = {"dq", "dk", "dv"};
    const Config *c = &model->config;
    AttentionAlone *alone = &model->alone;
    const SdpaShape shape = {.B = c->batch,
                             .T = c->ctx,
                             .H = c->heads,
                             .D = c->d_head,
                             .kv_heads = c->kv_heads,
                             .window = c->window < c->ctx ? c->window : 0,
                             .causal = c->mask == MASK_CAUSAL};
    for (int i = 0; i < 3; i++)
        alone->qkv[i] =
            input(b, model, names[i], TK_INPUT, i > 0 && c->kv_heads > 0 ? c->kv_heads : c->heads);
    if (config_mode_saves(model->mode)) {
        alone->dout = input(b, model, "dout", dout_kind(model->mode), c->heads);
        for (int i = 0; i < 3; i++) {
            alone->dqkv[i] = gradient(b, model, grads[i], alone->qkv[i]);
        }
    }
    alone->out = sdpa_build(b, model, &shape, PLAN_NONE, alone->qkv);
    keep(b, alone->out);
}

size_t attention_alone_before_backward(const Model *model, const MemPlan *mem)
{
    const Plan *plan = &model->plan;
    int begin = 0, end = 0;
    plan_phase_nodes(plan, PHASE_BACKWARD, &begin, &end);
    /* the result is kept, so it is among it */
    size_t sum = begin < end ? mem_plan_carried(mem, plan, begin) : mem_plan_left(mem, plan);
    for (int i = 0; i < 3; i++) sum += plan_bytes(&plan->tensors[model->alone.qkv[i]]);
    return sum;
}
