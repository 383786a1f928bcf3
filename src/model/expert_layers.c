#include "model/expert_layers.h"

#include "model/linear.h"
#include "plan/builder.h"

void expert_layers_inputs(Builder *b, Model *m, int64_t N)
{
    const ModelSpec *spec = &m->config.model;
    m->given_choice = PLAN_NONE;
    if (spec->num_experts == 0 || m->config.routing == CONFIG_ROUTING_MODEL) return;
    m->given_choice =
        builder_tensor(b, "given choice", TK_CONSTANT, DT_I32, DIMS(N, spec->experts_per_token));
}

/* Which experts each token goes through, and where its rows are among those of all. */
typedef struct Routing {
    int weights, place, first;
} Routing;

static Routing route(Builder *b, Model *m, const BlockParams *p, int layer, int y)
{
    const ModelSpec *spec = &m->config.model;
    const int64_t N = plan_rows(builder_at(b, y)), K = spec->experts_per_token;
    builder_scope(b, layer, "ffn/router");
    const int logits = linear_build(b, m, "router logits", y, (Linear){p->router, PLAN_NONE});
    const int weights =
        builder_tensor(b, "expert weights", TK_ACTIVATION, m->full_dtype, DIMS(N, K));
    const int choice = builder_tensor(b, "choice", TK_ACTIVATION, DT_I32, DIMS(N, K));
    const int place = builder_tensor(b, "place", TK_ACTIVATION, DT_I32, DIMS(N, K));
    const int first =
        builder_tensor(b, "first row", TK_ACTIVATION, DT_I32, DIMS(spec->num_experts + 1));
    builder_scope(b, layer, "ffn/route");
    builder_node(b, OP_route, IDS(weights, choice), IDS(logits, m->given_choice))->renormalise =
        spec->norm_topk;
    builder_node(b, OP_expert_rows, IDS(place, first), IDS(choice));
    if (b->status == ST_OK) b->plan->tensors[first].keep = true; /* bench tells the load */
    m->experts[layer] = (ExpertLayer){choice, first};
    return (Routing){weights, place, first};
}

/* Each row by the matrix of its expert, `out` wide. */
static int product(Builder *b, const Model *m, const char *name, int x, int weights, int first,
                   int64_t out)
{
    const int64_t rows = plan_rows(builder_at(b, x));
    const int w = linear_weight(b, m, weights);
    const int y = builder_tensor(b, name, TK_ACTIVATION, m->act, DIMS(rows, out));
    builder_node(b, OP_grouped_matmul, IDS(y), IDS(x, w, first))->transpose_b = true;
    return y;
}

int expert_layers_build(Builder *b, Model *m, const BlockParams *p, int layer, int y)
{
    const ModelSpec *spec = &m->config.model;
    const int64_t N = plan_rows(builder_at(b, y)), C = spec->d_model,
                  F = model_spec_expert_ff(spec);
    const int64_t rows = N * spec->experts_per_token;
    const Routing r = route(b, m, p, layer, y);
    builder_scope(b, layer, "ffn/permute");
    const int x = builder_tensor(b, "permuted", TK_ACTIVATION, m->act, DIMS(rows, C));
    builder_node(b, OP_permute, IDS(x), IDS(y, r.place));
    builder_scope(b, layer, "ffn/w13");
    const int h1 = product(b, m, "h1", x, p->w1.weight, r.first, F);
    const int h3 = product(b, m, "h3", x, p->w3.weight, r.first, F);
    builder_scope(b, layer, "ffn/swiglu");
    const int gated = builder_tensor(b, "gated", TK_ACTIVATION, m->act, DIMS(rows, F));
    builder_node(b, OP_swiglu, IDS(gated), IDS(h1, h3));
    builder_scope(b, layer, "ffn/w2");
    const int apart = product(b, m, "of experts", gated, p->w2.weight, r.first, C);
    builder_scope(b, layer, "ffn/unpermute");
    const int sum = builder_tensor(b, "ffn", TK_ACTIVATION, m->act, DIMS(N, C));
    builder_node(b, OP_unpermute, IDS(sum), IDS(apart, r.place, r.weights));
    return sum;
}
