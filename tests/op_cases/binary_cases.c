#include "op_cases.h"
#include "plan/op_functions.h"

/* Shapes of x and y; x and z are rows of heads in the last ones. */
static const int64_t shapes[][4] = {
    {1, 1, 1, 1},    {3, 2, 3, 2},       {5, 33, 5, 33}, {2, 2500, 2, 2500},
    {3, 1, 1, 1},    {3, 2, 3, 1},       {7, 101, 7, 1}, {5, 33, 1, 33},
    {12, 64, 4, 64}, {3, 2500, 1, 2500}, {6, 10, 1, 1},  {4, 6, 1, 3},
    {15, 8, 5, 8},   {14, 6, 1, 6},      {6, 4, 3, 4},   {6, 5, 1, 1},
};
enum { N_FNS = FN_DIV + 1, N_SHAPES = sizeof shapes / sizeof *shapes, N_HEADS = 4 };

static int windowed(Builder *b, const char *name, DType dtype, int64_t rows, int64_t cols)
{
    const int64_t ld = 2 * cols + 3;
    const int base = builder_tensor(b, name, TK_ACTIVATION, dtype, DIMS(rows, ld));
    return builder_view(b, name, base, cols, DIMS(rows, cols), ld);
}

/* Every function and shape, with dtypes in turn act and wide; then with x a window, and y. */
bool binary_cases(Builder *b, int i, DType act)
{
    if (i >= N_FNS * (N_SHAPES + 2)) return false;
    const int fn = i % N_FNS, k = i / N_FNS;
    const int64_t *s = shapes[k < N_SHAPES ? k : 2];
    const DType wide = op_full_dtype(act);
    const char *y_name = fn == FN_DIV ? "+y" : "y";
    const int64_t heads = k < N_SHAPES && k >= N_SHAPES - N_HEADS ? s[0] % 2 ? 3 : 2 : 1;
    const int z = builder_tensor(b, "z", TK_ACTIVATION, (i + k) % 3 ? act : wide,
                                 DIMS(s[0] / heads, heads * s[1]));
    const DType x_dtype = i % 2 ? act : wide, y_dtype = k % 2 ? act : wide;
    const int x = k == N_SHAPES ? windowed(b, "x", x_dtype, s[0], s[1])
                                : builder_tensor(b, "x", TK_ACTIVATION, x_dtype, DIMS(s[0], s[1]));
    const int y = k > N_SHAPES
                      ? windowed(b, y_name, y_dtype, s[2], s[3])
                      : builder_tensor(b, y_name, TK_ACTIVATION, y_dtype, DIMS(s[2], s[3]));
    builder_node(b, OP_binary, IDS(z), IDS(x, y))->fn = fn;
    return true;
}
