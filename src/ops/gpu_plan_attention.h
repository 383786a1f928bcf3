/* Of ops/gpu_plan.h, what attention's implementations take and ask for. */
#ifndef OPS_GPU_PLAN_ATTENTION_H
#define OPS_GPU_PLAN_ATTENTION_H

#include "ops/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `flash`: the program's own kernels. */
const char *gpu_plan_attention_declines_flash(const Plan *plan, const Node *node);
const char *gpu_plan_attention_declines_flash_grad(const Plan *plan, const Node *node);
size_t gpu_plan_attention_scratch_flash_grad(const Plan *plan, const Node *node, int threads);

/* cuDNN's, 16 bit. */
const char *gpu_plan_attention_declines_cudnn(const Plan *plan, const Node *node);
const char *gpu_plan_attention_declines_cudnn_grad(const Plan *plan, const Node *node);
size_t gpu_plan_attention_scratch_cudnn(const Plan *plan, const Node *node, int threads);
size_t gpu_plan_attention_scratch_cudnn_grad(const Plan *plan, const Node *node, int threads);
/* Of its gradient's scratch: the sums of rows, before the fp32 sums of dq. */
size_t gpu_plan_attention_row_bytes(int64_t rows);

#ifdef __cplusplus
}
#endif
#endif
