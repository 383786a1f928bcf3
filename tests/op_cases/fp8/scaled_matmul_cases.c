#include "op_cases/op_cases.h"
#include "ops/fp8/quantize.h"

/* Tiny, prime and whole sizes; of the whole ones, which GPUs take: less than a block of 128, several, and
 * numbers of blocks that are no multiple of 4. */
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
             {130, 129, 257},
             {16, 16, 16, .accumulate = true},
             {48, 16, 144, .bias = true},
             {32, 144, 272, .accumulate = true}};

/* On a GPU alone: squares on both sides of 128, and a multiple of 4 blocks. */
static const struct Case large[] = {{144, 272, 528, .bias = true},
                                    {272, 144, 512, .accumulate = true},
                                    {128, 256, 1040, .accumulate = true},
                                    {256, 128, 384}};
enum { N_CASES = sizeof cases / sizeof *cases, N_LARGE = sizeof large / sizeof *large };

static int64_t blocks(int64_t size)
{
    return (size + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK;
}

typedef enum Recipe { TENSOR, ROWS, BLOCKS, SQUARES } Recipe;

/* Of a and of b. */
static const Recipe recipes[][2] = {
    {TENSOR, TENSOR}, {ROWS, ROWS}, {BLOCKS, BLOCKS}, {BLOCKS, SQUARES}, {SQUARES, BLOCKS}};
static const DType formats[][2] = {{DT_E4M3, DT_E4M3}, {DT_E5M2, DT_E4M3}, {DT_E4M3, DT_E5M2}};
enum {
    N_RECIPES = sizeof recipes / sizeof *recipes,
    VARIANTS = N_RECIPES * (int)(sizeof formats / sizeof *formats)
};

static int scale_of(Builder *b, const char *name, Recipe recipe, int64_t rows, int64_t k)
{
    const int64_t high = recipe == TENSOR ? 1 : recipe == SQUARES ? blocks(rows) : rows;
    return builder_tensor(b, name, TK_ACTIVATION, DT_F32,
                          DIMS(high, recipe < BLOCKS ? 1 : blocks(k)));
}

/* Both e4m3, or one of them e5m2, as gradients are; with one scale, one a row, blocks of rows and squares. */
bool scaled_matmul_cases(Builder *b, int i, DType act)
{
    if (i >= VARIANTS * (N_CASES + (op_cases_gpu ? N_LARGE : 0))) return false;
    const int size = i / VARIANTS;
    const struct Case c = size < N_CASES ? cases[size] : large[size - N_CASES];
    const Recipe *recipe = recipes[i % N_RECIPES];
    const DType *format = formats[i / N_RECIPES % 3];
    const int x = builder_tensor(b, "a", TK_ACTIVATION, format[0], DIMS(c.m, c.k));
    const int w = builder_tensor(b, "b", TK_ACTIVATION, format[1], DIMS(c.n, c.k));
    const int scale_x = scale_of(b, "+scale a", recipe[0], c.m, c.k);
    const int scale_w = scale_of(b, "+scale b", recipe[1], c.n, c.k);
    const int y = builder_tensor(b, "c", TK_ACTIVATION, act, DIMS(c.m, c.n));
    const int bias = c.bias ? builder_tensor(b, "bias", TK_ACTIVATION, act, DIMS(c.n)) : PLAN_NONE;
    NodeAttr *attr = builder_node(b, OP_scaled_matmul, IDS(y),
                                  IDS(x, w, scale_x, scale_w, bias, c.accumulate ? y : PLAN_NONE));
    attr->accumulate = c.accumulate;
    attr->transpose_b = true;
    return true;
}
