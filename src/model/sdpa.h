/* softmax(q k^T / sqrt(D)) v as the configuration asks for it: one op, or its parts one by one. */
#pragma once

#include "model/model.h"

typedef struct SdpaShape {
    int64_t B, T, H, D;
    int64_t kv_heads; /* of k and v, a divisor of H; 0: H */
    int64_t window;   /* a query of causal attention sees its last keys, this many; 0: all */
    bool causal;
} SdpaShape;

/* q is [B T, H D] with heads side by side, as is the result; k and v are [B T, kv_heads D]. Scopes are
 * attn/... of `layer`. */
int sdpa_build(Builder *b, const Model *model, const SdpaShape *shape, int layer, const int qkv[3]);
