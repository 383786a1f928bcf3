/* Two profiles of a cell: the op whose time in a step changed most. */
#pragma once

#include "bench/record/record.h"

typedef struct OpChange {
    char name[200];       /* "matmul of layers.*.ffn.w1, backward: 'own avx512'" */
    double before, after; /* ns a step; 0 where one of the two has no such op */
} OpChange;

/* The op that became longer by most nanoseconds a step, or with `sign` -1 shorter. Rows with the same
 * phase, scope and op are one. False: one of the records has no profile that can be read, or no op changed
 * so. */
bool op_change_largest(OpChange *out, const Record *a, const Record *b, int sign);
