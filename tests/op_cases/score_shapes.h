/* Matrices of scores, for causal_mask and softmax. */
#pragma once

#include "op_cases.h"

typedef struct ScoreShape {
    int64_t n, T;   /* matrices, and the size of each */
    int64_t window; /* the sliding window; 0: none */
} ScoreShape;

static const ScoreShape score_shapes[] = {{1, 1, 0},  {2, 2, 0},   {3, 5, 0},    {5, 17, 0},
                                          {2, 64, 0}, {1, 101, 0}, {2, 128, 0},  {1, 1, 1},
                                          {3, 2, 1},  {2, 5, 3},   {3, 17, 16},  {2, 17, 22},
                                          {2, 64, 3}, {1, 64, 16}, {1, 100, 33}, {1, 100, 99}};
enum { SCORE_SHAPES = sizeof score_shapes / sizeof *score_shapes };
