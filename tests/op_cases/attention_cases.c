#include "op_cases.h"

#include <math.h>

/* {B, H, T, D}: one token, odd and prime lengths, lengths around and past a block of queries, narrow and
 * wide heads. */
static const int64_t shapes[][4] = {
    {1, 1, 1, 2},    {2, 3, 5, 4},    {1, 2, 17, 6},   {2, 1, 64, 16},   {1, 1, 67, 20},
    {1, 2, 129, 10}, {1, 1, 200, 3},  {1, 2, 100, 16}, {2, 1, 129, 8},   {1, 1, 192, 40},
    {1, 3, 65, 64},  {1, 2, 2, 16},   {2, 2, 17, 1},   {1, 2, 100, 3},   {1, 2, 70, 80},
    {1, 1, 64, 80},  {1, 2, 17, 100}, {1, 1, 33, 100}, {1, 1, 129, 128}, {1, 1, 40, 128},
    {1, 1, 64, 192}, {1, 1, 17, 192}, {1, 1, 70, 256}, {1, 1, 20, 256},  {1, 1, 40, 512},
    {1, 1, 17, 512}};

/* {B, H, heads of k and v, T, D, window}: pairs, threes, sevens, eights of q's heads that share one,
 * all of them; windows of one key and of all but one, of no effect, within a tile of keys and over
 * several. */
static const int64_t shared_shapes[][6] = {
    {1, 4, 2, 1, 2, 0},     {1, 4, 2, 1, 2, 1},     {2, 6, 2, 2, 6, 0},     {1, 2, 1, 2, 64, 1},
    {1, 7, 1, 17, 16, 0},   {1, 14, 2, 17, 6, 0},   {2, 3, 1, 17, 6, 0},    {2, 3, 1, 17, 6, 0},
    {2, 3, 1, 17, 6, 3},    {1, 3, 3, 17, 16, 16},  {1, 2, 1, 17, 2, 17},   {2, 3, 1, 17, 2, 22},
    {2, 2, 1, 64, 16, 3},   {1, 6, 3, 64, 6, 63},   {1, 4, 4, 64, 2, 64},   {1, 7, 1, 64, 2, 69},
    {1, 4, 2, 100, 6, 1},   {1, 3, 1, 100, 16, 16}, {1, 2, 2, 100, 16, 99}, {2, 2, 1, 100, 2, 105},
    {1, 2, 1, 100, 64, 33}, {1, 3, 1, 17, 80, 0},   {1, 2, 1, 64, 80, 0},   {1, 2, 1, 64, 80, 16},
    {1, 4, 1, 17, 128, 3},  {1, 2, 1, 100, 128, 0}, {1, 6, 2, 300, 2, 0},   {1, 2, 1, 300, 8, 40},
    {1, 1, 1, 600, 2, 260}, {1, 7, 1, 530, 2, 20},  {1, 8, 1, 19, 10, 5},   {1, 8, 2, 33, 40, 16},
    {2, 8, 1, 17, 96, 0},   {1, 3, 1, 21, 96, 7},   {1, 7, 1, 35, 96, 40},  {1, 2, 1, 19, 256, 7},
    {1, 8, 1, 21, 256, 0},  {1, 8, 1, 67, 10, 33}};

enum {
    N_SHAPES = sizeof shapes / sizeof *shapes,
    N_SHARED = sizeof shared_shapes / sizeof *shared_shapes,
    LARGE_CASE = 2 * N_SHAPES,
    SHARED_CASES = LARGE_CASE + 1
};

/* One case, forward only: scores of thousands. Their softmax is next to a choice of one, whose
 * gradient is a difference of equal numbers. */
static const int64_t large_shape[4] = {1, 1, 17, 16};
static const double large_scale = 2500;

typedef struct Shape {
    int64_t B, H, kv_heads, T, D, window;
} Shape;

/* In float64 only references run, a hundred times for the differences of a gradient: long sequences,
 * which are for the tiles of other implementations, are cut. */
static int64_t tokens(int64_t T, DType act)
{
    enum { MOST = 40 };
    return act == DT_F64 && T > MOST ? MOST : T;
}

static Shape shape_of(int i, DType act)
{
    if (i >= SHARED_CASES) {
        const int64_t *s = shared_shapes[i - SHARED_CASES];
        return (Shape){s[0], s[1], s[2], tokens(s[3], act), s[4], s[5]};
    }
    const int64_t *s = i < LARGE_CASE ? shapes[i / 2] : large_shape;
    return (Shape){s[0], s[1], s[1], tokens(s[2], act), s[3], 0};
}

/* q, k, v packed as the model has them, or three tensors; causal or not. */
static void operands(Builder *b, int i, DType act, NodeAttr *attr, int qkv[3])
{
    const Shape s = shape_of(i, act);
    const int64_t rows = s.B * s.T, C = s.H * s.D, kv = s.kv_heads * s.D, packed_width = C + 2 * kv;
    const int64_t width[3] = {C, kv, kv}, offset[3] = {0, C, C + kv};
    const double scale = i == LARGE_CASE ? large_scale : 1 / sqrt((double)s.D);
    *attr = (NodeAttr){.heads = s.H,
                       .tokens = s.T,
                       .head_dim = kv == C ? 0 : s.D,
                       .window = s.window,
                       .causal = i % 4 < 2 || s.window,
                       .scale = scale};
    const int packed =
        i % 2 ? builder_tensor(b, "qkv", TK_ACTIVATION, act, DIMS(rows, packed_width)) : PLAN_NONE;
    for (int p = 0; p < 3; p++) {
        qkv[p] =
            i % 2 ? builder_view(b, "part", packed, offset[p], DIMS(rows, width[p]), packed_width)
                  : builder_tensor(b, "part", TK_ACTIVATION, act, DIMS(rows, width[p]));
    }
}

bool attention_cases(Builder *b, int i, DType act)
{
    if (i >= SHARED_CASES + N_SHARED) return false;
    NodeAttr attr;
    int qkv[3];
    operands(b, i, act, &attr, qkv);
    const int out = builder_like(b, "out", qkv[0], act);
    const int64_t B = plan_rows(builder_at(b, out)) / attr.tokens;
    const int lse = builder_tensor(b, "lse", TK_ACTIVATION, op_full_dtype(act),
                                   DIMS(B, attr.heads, attr.tokens));
    *builder_node(b, OP_attention, IDS(out, lse), IDS(qkv[0], qkv[1], qkv[2])) = attr;
    return true;
}

/* Preceded by the forward node: out and lse must belong to q, k and v. */
bool attention_grad_cases(Builder *b, int i, DType act)
{
    if (!attention_cases(b, i < LARGE_CASE ? i : i + 1, act) || b->status != ST_OK) return false;
    const Node forward = b->plan->nodes[b->plan->n_nodes - 1];
    const int dout = builder_like(b, "dout", plan_out_id(b->plan, &forward, 0), act);
    builder_grad_add(b, plan_out_id(b->plan, &forward, 0), dout);
    op_def(OP_attention)->grad(b, &forward);
    return true;
}
