#include "op_cases/op_cases.h"
#include "ops/fp8/quantize.h"

/* Tiny, prime and whole sizes. */
static const struct Case {
    int64_t m, n, k;
    bool bias, accumulate;
} cases[] = {{1, 1, 1},
             {2, 3, 1},
             {5, 7, 11},
             {17, 31, 9, .bias = true},
             {16, 32, 48},
             {64, 48, 33, .accumulate = true},
             {101, 13, 97, .bias = true, .accumulate = true},
             {150, 211, 67},
             {130, 129, 257}};

static int64_t blocks(int64_t size)
{
    return (size + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK;
}

typedef enum Recipe { TENSOR, ROWS, BLOCKS, SQUARES } Recipe;

static int scale_of(Builder *b, const char *name, Recipe recipe, int64_t rows, int64_t k)
{
    const int64_t high = recipe == TENSOR ? 1 : recipe == SQUARES ? blocks(rows) : rows;
    return builder_tensor(b, name, TK_ACTIVATION, DT_F32,
                          DIMS(high, recipe < BLOCKS ? 1 : blocks(k)));
}

/* Forward (both e4m3) and backward (gradients are e5m2), with one scale, one a row, and blocks: activations'
 * and weights'. */
bool scaled_matmul_cases(Builder *b, int i, DType act)
{
    enum { N = sizeof cases / sizeof *cases };
    if (i >= 8 * N) return false;
    const struct Case c = cases[i / 8];
    const Recipe recipe = (Recipe)(i / 2 % 4);
    const DType left = i & 1 ? DT_E5M2 : DT_E4M3;
    const int x = builder_tensor(b, "a", TK_ACTIVATION, left, DIMS(c.m, c.k));
    const int w = builder_tensor(b, "b", TK_ACTIVATION, DT_E4M3, DIMS(c.n, c.k));
    const int scale_x = scale_of(b, "+scale a", recipe == SQUARES ? BLOCKS : recipe, c.m, c.k);
    const int scale_w = scale_of(b, "+scale b", recipe, c.n, c.k);
    const int y = builder_tensor(b, "c", TK_ACTIVATION, act, DIMS(c.m, c.n));
    const int bias = c.bias ? builder_tensor(b, "bias", TK_ACTIVATION, act, DIMS(c.n)) : PLAN_NONE;
    NodeAttr *attr = builder_node(b, OP_scaled_matmul, IDS(y),
                                  IDS(x, w, scale_x, scale_w, bias, c.accumulate ? y : PLAN_NONE));
    attr->accumulate = c.accumulate;
    attr->transpose_b = true;
    return true;
}
