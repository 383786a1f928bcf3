#include "op_cases.h"

/* B, H, T, D: odd sizes, and whole tiles of kernels with remainders. */
static const int64_t shapes[][4] = {
    {1, 1, 1, 2},    {2, 3, 5, 4},   {1, 2, 17, 6},  {3, 1, 33, 20},  {2, 3, 20, 4},
    {1, 2, 132, 16}, {3, 1, 68, 28}, {2, 2, 68, 64}, {1, 1, 132, 40}, {1, 2, 20, 6}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* q k^T, p v and p^T dout; the heads as windows into a wider tensor too. */
bool bmm_cases(Builder *b, int i, DType act)
{
    if (i >= 6 * N_SHAPES) return false;
    const int64_t *s = shapes[i / 6], B = s[0], H = s[1], T = s[2], C = H * s[3];
    const bool scores = i % 6 < 2;
    const NodeAttr attr = {
        .heads = H, .tokens = T, .scale = 0.7, .transpose_a = i % 6 >= 4, .transpose_b = scores};
    int heads = builder_tensor(b, "heads", TK_ACTIVATION, act, DIMS(B * T, C));
    if (i % 2) {
        const int packed = builder_tensor(b, "packed", TK_ACTIVATION, act, DIMS(B * T, 3 * C));
        heads = builder_view(b, "window", packed, C, DIMS(B * T, C), 3 * C);
    }
    if (scores) {
        const int other = builder_tensor(b, "other", TK_ACTIVATION, act, DIMS(B * T, C));
        const int c = builder_tensor(b, "scores", TK_ACTIVATION, act, DIMS(B, H, T, T));
        *builder_node(b, OP_bmm, IDS(c), IDS(other, heads)) = attr;
    } else {
        const int p = builder_tensor(b, "p", TK_ACTIVATION, act, DIMS(B, H, T, T));
        const int out = builder_tensor(b, "out", TK_ACTIVATION, act, DIMS(B * T, C));
        *builder_node(b, OP_bmm, IDS(out), IDS(p, heads)) = attr;
    }
    return true;
}
