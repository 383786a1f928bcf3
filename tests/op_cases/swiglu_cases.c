#include "op_cases.h"

static const int64_t shapes[][2] = {{1, 1},    {3, 2},    {5, 33},  {7, 101},
                                    {17, 128}, {3, 2500}, {7, 3072}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

bool swiglu_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * N_SHAPES) return false;
    const int64_t N = shapes[i / 2][0], F = shapes[i / 2][1];
    const int g = builder_tensor(b, "g", TK_ACTIVATION, act, DIMS(N, F));
    if (i % 2) {
        const int h = builder_tensor(b, "h", TK_ACTIVATION, act, DIMS(N, 2 * F));
        builder_node(b, OP_swiglu, IDS(g), IDS(h));
    } else {
        const int h1 = builder_tensor(b, "h1", TK_ACTIVATION, act, DIMS(N, F));
        const int h3 = builder_tensor(b, "h3", TK_ACTIVATION, act, DIMS(N, F));
        builder_node(b, OP_swiglu, IDS(g), IDS(h1, h3));
    }
    return true;
}

bool swiglu_grad_cases(Builder *b, int i, DType act)
{
    if (i >= 4 * N_SHAPES) return false;
    const int64_t N = shapes[i / 4][0], F = shapes[i / 4][1];
    const int dg = builder_tensor(b, "dg", TK_ACTIVATION, act, DIMS(N, F));
    const int g = i & 2 ? builder_like(b, "g", dg, act) : PLAN_NONE;
    if (i & 1) {
        const int h = builder_tensor(b, "h", TK_ACTIVATION, act, DIMS(N, 2 * F));
        const int dh = builder_like(b, "dh", h, act);
        builder_node(b, OP_swiglu_grad, IDS(dh, PLAN_NONE, g), IDS(dg, h));
    } else {
        const int h1 = builder_tensor(b, "h1", TK_ACTIVATION, act, DIMS(N, F));
        const int h3 = builder_tensor(b, "h3", TK_ACTIVATION, act, DIMS(N, F));
        const int dh1 = builder_like(b, "dh1", h1, act), dh3 = builder_like(b, "dh3", h3, act);
        builder_node(b, OP_swiglu_grad, IDS(dh1, dh3, g), IDS(dg, h1, h3));
    }
    return true;
}
