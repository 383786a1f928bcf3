#include "op_cases.h"

static const int64_t shapes[][2] = {{1, 1},    {3, 2},    {5, 33},  {7, 101},
                                    {1, 1024}, {2, 2500}, {30, 768}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Every size in every direction (wide to act, act to wide, act to act), then windows. */
bool cast_cases(Builder *b, int i, DType act)
{
    const DType wide = op_full_dtype(act);
    if (i < 3 * N_SHAPES) {
        const int64_t *s = shapes[i / 3];
        const DType from = i % 3 == 0 ? wide : act, to = i % 3 == 1 ? wide : act;
        const int x = builder_tensor(b, "x", TK_ACTIVATION, from, DIMS(s[0], s[1]));
        const int y = builder_tensor(b, "y", TK_ACTIVATION, to, DIMS(s[0], s[1]));
        builder_node(b, OP_cast, IDS(y), IDS(x));
        return true;
    }
    if (i > 3 * N_SHAPES) return false;
    const int base = builder_tensor(b, "base", TK_ACTIVATION, act, DIMS(7, 300));
    const int x = builder_view(b, "x", base, 100, DIMS(7, 101), 300);
    const int y = builder_tensor(b, "y", TK_ACTIVATION, wide, DIMS(7, 101));
    builder_node(b, OP_cast, IDS(y), IDS(x));
    return true;
}
