#include "op_cases/op_cases.h"
#include "ops/fp8/quantize.h"

/* Tiny, prime and whole sizes, on both sides of a block of 128; the last are whole vectors, on a GPU alone
 * in several blocks each way and more than one thread block looks for the largest number of. */
static const int64_t shapes[][2] = {{1, 1},     {3, 2},     {5, 33},   {128, 7},  {7, 128},
                                    {129, 257}, {300, 131}, {2, 1500}, {16, 144}, {144, 272},
                                    {144, 520}, {37, 4096}, {272, 384}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, N_SHAPES_CPU = N_SHAPES - 3 };

/* How many scales there are in a dimension: one, one for each row, one for a block. */
typedef enum Share { ALL, EACH, BLOCK } Share;
static const Share shares[][2] = {{ALL, ALL}, {EACH, ALL}, {EACH, BLOCK}, {BLOCK, BLOCK}};
enum { N_SHARES = sizeof shares / sizeof *shares };

static int64_t scales(int64_t size, Share share)
{
    const int64_t blocks = (size + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK;
    return share == ALL ? 1 : share == EACH ? size : blocks;
}

static void add_pair(Builder *b, int out[2], DType to, const Share share[2], int64_t rows,
                     int64_t cols)
{
    out[0] = builder_tensor(b, "q", TK_ACTIVATION, to, DIMS(rows, cols));
    out[1] = builder_tensor(b, "scale", TK_ACTIVATION, DT_F32,
                            DIMS(scales(rows, share[0]), scales(cols, share[1])));
}

/* Both formats, large and small numbers, rows with gaps between them; as stored, transposed and both; every
 * way to share scales, and one scale that is given. */
bool quantize_cases(Builder *b, int i, DType act)
{
    static const char *const names[] = {"x", "~30000x", "~0.000001x"};
    const int variant = i % (6 * N_SHARES), way = variant / 6;
    if (i >= 6 * N_SHARES * (op_cases_gpu ? N_SHAPES : N_SHAPES_CPU)) return false;
    const int64_t *shape = shapes[i / (6 * N_SHARES)], rows = shape[0], cols = shape[1];
    const DType to = variant % 2 ? DT_E5M2 : DT_E4M3;
    const bool gaps = variant % 6 > 3;
    const int base =
        builder_tensor(b, names[variant % 3], TK_ACTIVATION, act, DIMS(rows, cols + gaps));
    const int x = gaps ? builder_view(b, "part", base, 1, DIMS(rows, cols), cols + 1) : base;
    int out[5] = {PLAN_NONE, PLAN_NONE, PLAN_NONE, PLAN_NONE, PLAN_NONE}, recent = PLAN_NONE;
    if (variant % 3 != 1) add_pair(b, out, to, shares[way], rows, cols);
    if (variant % 3 != 0) add_pair(b, out + 2, to, shares[way], cols, rows);
    if (way == 0 && variant % 6 > 2)
        recent = builder_tensor(b, "+recent", TK_ACTIVATION, DT_F32, DIMS(1));
    if (variant % 2) out[4] = builder_tensor(b, "amax", TK_ACTIVATION, DT_F32, DIMS(1));
    builder_node(b, OP_quantize, out, 5, IDS(x, recent, out[4]));
    return true;
}
