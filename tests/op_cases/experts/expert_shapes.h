/* Tokens, experts, experts of a token, and two widths: one token, one expert, all experts, more experts
 * than rows (some without any), primes, sizes around vector widths and beyond a part of a group (512
 * rows). */
#pragma once

#include "../op_cases.h"

static const int64_t expert_shapes[][5] = {
    {1, 1, 1, 1, 1},     {3, 5, 1, 2, 3},     {7, 6, 2, 8, 4},
    {5, 8, 8, 3, 16},    {13, 31, 3, 17, 33}, {40, 4, 2, 96, 65},
    {129, 8, 2, 33, 34}, {600, 2, 1, 19, 24}, {2, 64, 4, 33, 7},
};
enum { EXPERT_SHAPES = sizeof expert_shapes / sizeof *expert_shapes };

/* Random experts of `n` tokens; of one case in three all tokens go through the same ones. */
static inline int expert_shapes_choice(Builder *b, int i, int64_t n, int64_t experts, int64_t each)
{
    return op_cases_indices(b, "choice", i % 3 == 2 ? 1 : experts, DIMS(n, each));
}

/* Where each row is, and where each expert's rows begin. */
typedef struct ExpertRows {
    int place, first;
} ExpertRows;

static inline ExpertRows expert_shapes_rows(Builder *b, int i)
{
    const int64_t *s = expert_shapes[i % EXPERT_SHAPES];
    const int choice = expert_shapes_choice(b, i, s[0], s[1], s[2]);
    const ExpertRows r = {builder_tensor(b, "place", TK_ACTIVATION, DT_I32, DIMS(s[0], s[2])),
                          builder_tensor(b, "first", TK_ACTIVATION, DT_I32, DIMS(s[1] + 1))};
    builder_node(b, OP_expert_rows, IDS(r.place, r.first), IDS(choice));
    return r;
}
