/* Scales of blocks in the order that cuBLASLt reads (ops/fp8_cuda/scaled_matmul_cuda.c). */
#pragma once

#include "backend/cuda_backend.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* [rows, cols] row-major; to: NULL where they stay as they are. */
typedef struct ScaleOrder {
    const float *from;
    float *to;
    int64_t rows, cols;
    int64_t
        step; /* of squares: from one row of them to the next, with zeros between; 0: transposed */
} ScaleOrder;

typedef struct ScaleOrders {
    ScaleOrder a, b;
} ScaleOrders;

/* Of both operands in one launch. */
Status scale_order_cuda_move(const Backend *be, const ScaleOrders *orders);

#ifdef __cplusplus
}
#endif
