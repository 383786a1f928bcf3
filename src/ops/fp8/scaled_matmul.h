/* The inputs of scaled_matmul behind a and b. */
#pragma once

enum {
    SCALED_MATMUL_IN_SCALE_A = 2,
    SCALED_MATMUL_IN_SCALE_B = 3,
    SCALED_MATMUL_IN_BIAS = 4,
    SCALED_MATMUL_IN_C = 5
};
