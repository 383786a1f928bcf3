/* Every parameter of a model, as its ModelSpec asks for them. A member is the tensor that the
 * forward pass reads; PLAN_NONE: the model has no such parameter. Weights are [out, in]. */
#pragma once

#include "model/model.h"

/* A linear layer. */
typedef struct Linear {
    int weight, bias;
} Linear;

/* RMSNorm has no bias. */
typedef struct NormParams {
    int weight, bias;
} NormParams;

typedef struct BlockParams {
    NormParams ln1, ln2;
    Linear q, k, v, output;
    int q_norm, k_norm; /* of each head */
    Linear w1, w3,
        w2;     /* of the feed-forward: w3 only where w1 gates it. Of experts one after the other */
    int router; /* [experts, width]; PLAN_NONE: the feed-forward has none */
} BlockParams;

typedef struct ModelParams {
    int token_embedding, position_embedding;
    BlockParams *blocks;
    NormParams ln_final;
    int lm_head; /* the token embedding where they are tied */
} ModelParams;

/* Adds all of them to the plan, in the order that fixes their random streams. `blocks` has room for
 * every layer. */
void model_params_add(Builder *b, Model *model, ModelParams *params);
