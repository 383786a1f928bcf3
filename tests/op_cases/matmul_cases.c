#include "op_cases.h"

/* Sizes around the tiles of the usual kernels, primes, K = 1; every form of transposition; the product
 * alone, then added to what is there. */
bool matmul_cases(Builder *b, int i, DType act)
{
    static const int64_t shapes[][3] = {{1, 1, 1},      {2, 3, 1},     {5, 7, 11},    {8, 12, 16},
                                        {17, 31, 9},    {64, 48, 33},  {101, 13, 97}, {33, 97, 20},
                                        {150, 211, 67}, {389, 100, 70}};
    enum { N_SHAPES = sizeof shapes / sizeof *shapes };
    const bool accumulate = i >= 4 * N_SHAPES;
    if (i >= 8 * N_SHAPES) return false;
    i %= 4 * N_SHAPES;
    const int64_t m = shapes[i / 4][0], n = shapes[i / 4][1], k = shapes[i / 4][2];
    const bool ta = i & 1, tb = i & 2;
    const int x = builder_tensor(b, "a", TK_ACTIVATION, act, DIMS(ta ? k : m, ta ? m : k));
    const int w = builder_tensor(b, "b", TK_ACTIVATION, act, DIMS(tb ? n : k, tb ? k : n));
    const int y = builder_tensor(b, "c", TK_ACTIVATION, act, DIMS(m, n));
    const int c = accumulate ? y : PLAN_NONE;
    NodeAttr *attr = builder_node(b, OP_matmul, IDS(y), IDS(x, w, PLAN_NONE, c));
    attr->accumulate = accumulate;
    attr->transpose_a = ta;
    attr->transpose_b = tb;
    return true;
}
