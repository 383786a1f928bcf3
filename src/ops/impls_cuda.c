#include "ops/impls_cuda.h"

const OpImpl *const impls_cuda[OP_COUNT] = {
#define OP(name, category) name##_cuda,
#include "plan/ops.def"
#undef OP
};

const char *impls_cuda_declines_f64(const Plan *plan, const Node *node)
{
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const int id = plan->operands[node->first + i];
        if (id == PLAN_NONE) continue;
        const Tensor *t = &plan->tensors[id];
        if (t->dtype == DT_F64 && t->kind != TK_STATE) return "float64 runs on a CPU only";
    }
    return NULL;
}
