#include "op_cases.h"

#include <stdio.h>

OpCases *const op_cases[OP_COUNT] = {
#define OP(name, category) name##_cases,
#include "plan/ops.def"
};

bool op_cases_gpu;

int op_cases_indices(Builder *b, const char *name, int64_t below, int n_dims, const int64_t *dim)
{
    char full[PLAN_NAME];
    snprintf(full, sizeof full, "#%lld%s", (long long)below, name);
    return builder_tensor(b, full, TK_INPUT, DT_I32, n_dims, dim);
}
