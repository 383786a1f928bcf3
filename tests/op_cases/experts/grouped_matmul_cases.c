#include "expert_shapes.h"

/* Matrices as in a linear layer, then as they are. */
bool grouped_matmul_cases(Builder *b, int i, DType act)
{
    if (i >= 6 * EXPERT_SHAPES) return false;
    const int64_t *s = expert_shapes[i % EXPERT_SHAPES], rows = s[0] * s[2], k = s[3], n = s[4];
    const bool transposed = i < 3 * EXPERT_SHAPES;
    const ExpertRows r = expert_shapes_rows(b, i);
    const int a = builder_tensor(b, "a", TK_ACTIVATION, act, DIMS(rows, k));
    const int matrices = transposed ? builder_tensor(b, "b", TK_ACTIVATION, act, DIMS(s[1] * n, k))
                                    : builder_tensor(b, "b", TK_ACTIVATION, act, DIMS(s[1] * k, n));
    const int c = builder_tensor(b, "c", TK_ACTIVATION, act, DIMS(rows, n));
    builder_node(b, OP_grouped_matmul, IDS(c), IDS(a, matrices, r.first))->transpose_b = transposed;
    return true;
}

/* Gradients of 16 bit, then of full precision. */
bool grouped_matmul_grad_cases(Builder *b, int i, DType act)
{
    if (i >= 6 * EXPERT_SHAPES) return false;
    const int64_t *s = expert_shapes[i % EXPERT_SHAPES], rows = s[0] * s[2], k = s[3], n = s[4];
    const DType dtype = i < 3 * EXPERT_SHAPES ? act : op_full_dtype(act);
    const ExpertRows r = expert_shapes_rows(b, i);
    const int dc = builder_tensor(b, "dc", TK_ACTIVATION, act, DIMS(rows, n));
    const int a = builder_tensor(b, "a", TK_ACTIVATION, act, DIMS(rows, k));
    const int db = builder_tensor(b, "db", TK_ACTIVATION, dtype, DIMS(s[1] * n, k));
    builder_node(b, OP_grouped_matmul_grad, IDS(db), IDS(dc, a, r.first));
    return true;
}
