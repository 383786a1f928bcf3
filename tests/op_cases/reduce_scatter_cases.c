#include "op_cases.h"

static const int64_t sizes[] = {1, 3, 7, 101, 1024, 4099, 20000};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* The shard of one rank is everything; tests/ranks has several. */
bool reduce_scatter_cases(Builder *b, int i, DType act)
{
    if (i >= N_SIZES) return false;
    const int x = builder_tensor(b, "x", TK_ACTIVATION, act, DIMS(sizes[i]));
    const int shard = builder_tensor(b, "shard", TK_ACTIVATION, act, DIMS(sizes[i]));
    builder_node(b, OP_reduce_scatter, IDS(shard), IDS(x))->scale = 1;
    return true;
}
