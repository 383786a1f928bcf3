/* softmax(q k^T / sqrt(D)) v as the configuration asks for it: one op, or its parts one by one. */
#ifndef MODEL_ATTEND_H
#define MODEL_ATTEND_H

#include "model/model.h"

typedef struct AttendShape {
    int64_t B, T, H, D;
    bool causal;
} AttendShape;

/* q, k and v are [B T, H D] with heads side by side, as is the result. Scopes are attn/... of `layer`. */
int attend(Builder *b, const Model *model, const AttendShape *shape, int layer, const int qkv[3]);

#endif
