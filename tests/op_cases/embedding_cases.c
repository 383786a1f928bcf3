#include "op_cases.h"

/* Batch, tokens, width, vocabulary: one token, one word, more tokens than words and the reverse. */
static const int64_t shapes[][4] = {{1, 1, 1, 1},     {2, 3, 2, 5},     {1, 7, 33, 3},
                                    {3, 11, 16, 101}, {2, 17, 101, 13}, {1, 40, 768, 29},
                                    {1, 5, 8, 2003},  {4, 300, 3, 513}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

bool embedding_cases(Builder *b, int i, DType act)
{
    if (i >= N_SHAPES) return false;
    const int64_t B = shapes[i][0], T = shapes[i][1], C = shapes[i][2], V = shapes[i][3];
    const DType wide = op_full_dtype(act);
    const int table = builder_tensor(b, "table", TK_ACTIVATION, wide, DIMS(V, C));
    const int ids = op_cases_indices(b, "ids", V, DIMS(B, T));
    const int x = builder_tensor(b, "x", TK_ACTIVATION, i % 2 ? wide : act, DIMS(B * T, C));
    builder_node(b, OP_embedding, IDS(x), IDS(table, ids));
    return true;
}

bool embedding_grad_cases(Builder *b, int i, DType act)
{
    if (i >= N_SHAPES) return false;
    const int64_t B = shapes[i][0], T = shapes[i][1], C = shapes[i][2], V = shapes[i][3];
    const DType wide = op_full_dtype(act);
    const int dx = builder_tensor(b, "dx", TK_ACTIVATION, i % 2 ? wide : act, DIMS(B * T, C));
    const int ids = op_cases_indices(b, "ids", V, DIMS(B, T));
    const int dtable = builder_tensor(b, "dtable", TK_ACTIVATION, wide, DIMS(V, C));
    builder_node(b, OP_embedding_grad, IDS(dtable), IDS(dx, ids));
    return true;
}
