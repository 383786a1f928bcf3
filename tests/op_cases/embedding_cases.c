#include "op_cases.h"

/* Batch, tokens, width, vocabulary, positions: one token, one word, more tokens than words and the
 * reverse; no positions, as many as tokens, or more. */
static const int64_t shapes[][5] = {
    {1, 1, 1, 1, 0},      {2, 3, 2, 5, 0},     {1, 7, 33, 3, 0},     {3, 11, 16, 101, 0},
    {2, 17, 101, 13, 0},  {1, 40, 768, 29, 0}, {1, 5, 8, 2003, 0},   {4, 300, 3, 513, 0},
    {1, 1, 1, 1, 1},      {2, 3, 2, 5, 4},     {3, 11, 16, 101, 11}, {2, 17, 101, 13, 64},
    {5, 8, 1032, 29, 19}, {1, 5, 8, 2003, 7},  {4, 300, 3, 53, 301},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static int positions_of(Builder *b, const char *name, DType dtype, const int64_t *s)
{
    return s[4] ? builder_tensor(b, name, TK_ACTIVATION, dtype, DIMS(s[4], s[2])) : PLAN_NONE;
}

/* Each with a table of full precision, then of 16 bit. */
bool embedding_cases(Builder *b, int i, DType act)
{
    if (i >= 2 * N_SHAPES) return false;
    const int64_t *s = shapes[i % N_SHAPES], B = s[0], T = s[1], C = s[2], V = s[3];
    const DType wide = op_full_dtype(act);
    const int table =
        builder_tensor(b, "table", TK_ACTIVATION, i < N_SHAPES ? wide : act, DIMS(V, C));
    const int ids = op_cases_indices(b, "ids", V, DIMS(B, T));
    const int x = builder_tensor(b, "x", TK_ACTIVATION, i % 2 ? wide : act, DIMS(B * T, C));
    builder_node(b, OP_embedding, IDS(x), IDS(table, ids, positions_of(b, "positions", wide, s)))
        ->tokens = T;
    return true;
}

/* Each with a table of full precision, then of 16 bit; written whole, then added to. */
bool embedding_grad_cases(Builder *b, int i, DType act)
{
    if (i >= 4 * N_SHAPES) return false;
    const int64_t *s = shapes[i % N_SHAPES], B = s[0], T = s[1], C = s[2], V = s[3];
    const DType wide = op_full_dtype(act);
    const bool accumulate = i >= 2 * N_SHAPES, narrow = i / N_SHAPES % 2;
    const int dx = builder_tensor(b, "dx", TK_ACTIVATION, i % 2 ? wide : act, DIMS(B * T, C));
    const int ids = op_cases_indices(b, "ids", V, DIMS(B, T));
    const int dtable = builder_tensor(b, "dtable", TK_ACTIVATION, narrow ? act : wide, DIMS(V, C));
    *builder_node(b, OP_embedding_grad, IDS(dtable, positions_of(b, "dpositions", wide, s)),
                  IDS(dx, ids, accumulate ? dtable : PLAN_NONE)) =
        (NodeAttr){.tokens = T, .accumulate = accumulate};
    return true;
}
