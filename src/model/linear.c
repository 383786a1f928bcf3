#include "model/linear.h"

int linear_weight(Builder *b, const Model *m, int param)
{
    if (param == PLAN_NONE || builder_dtype(b, param) == m->act) return param;
    const int cast = builder_like(b, "weight cast", param, m->act);
    builder_node(b, OP_cast, IDS(cast), IDS(param));
    return cast;
}

int linear_build(Builder *b, const Model *m, const char *name, int x, Linear layer)
{
    const int64_t rows = plan_rows(builder_at(b, x)), out = builder_at(b, layer.weight)->dim[0];
    const int w = linear_weight(b, m, layer.weight), bias = linear_weight(b, m, layer.bias);
    const int y = builder_tensor(b, name, TK_ACTIVATION, m->act, DIMS(rows, out));
    NodeAttr *attr = bias == PLAN_NONE ? builder_node(b, OP_matmul, IDS(y), IDS(x, w))
                                       : builder_node(b, OP_matmul, IDS(y), IDS(x, w, bias));
    attr->transpose_b = true;
    return y;
}
