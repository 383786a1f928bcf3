/* What is known of a GPU's implementations without a GPU, in every build: which nodes each takes, and how much scratch it
 * asks for. NAME_cuda[] (ops/NAME_cuda.cu) adds how it is run; a build without CUDA plans by these alone.
 *
 * The libraries cannot be asked without a device: their workspaces are the constants below, the most they are given. */
#ifndef OPS_GPU_PLAN_H
#define OPS_GPU_PLAN_H

#include "ops/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* gpu_plan_NAME[]: the implementations of an op, best first, ended by {0}; none of them has a run(). */
#define OP(name, category) extern const OpImpl gpu_plan_##name[];
#include "plan/ops.def"
#undef OP

/* Bytes that cuBLASLt has for one product and cuDNN for one attention. */
enum { GPU_PLAN_CUBLASLT = 32 << 20, GPU_PLAN_CUDNN = 1 << 20 };

/* Why a float kernel cannot take a node: a float64 operand other than the step state. NULL if it can. */
const char *gpu_plan_declines_f64(const Plan *plan, const Node *node);
const char *gpu_plan_declines_adamw(const Plan *plan, const Node *node);
const char *gpu_plan_declines_adamw_part(const Plan *plan, const Node *node);
const char *gpu_plan_declines_cast(const Plan *plan, const Node *node);
const char *gpu_plan_declines_cross_entropy_grad(const Plan *plan, const Node *node);
const char *gpu_plan_declines_embedding_grad(const Plan *plan, const Node *node);
const char *gpu_plan_declines_rope(const Plan *plan, const Node *node);
const char *gpu_plan_declines_broadcast(const Plan *plan, const Node *node);
const char *gpu_plan_declines_bmm_fp32(const Plan *plan, const Node *node);

size_t gpu_plan_scratch_cublaslt(const Plan *plan, const Node *node, int threads);
size_t gpu_plan_scratch_cross_entropy(const Plan *plan, const Node *node, int threads);
size_t gpu_plan_scratch_embedding_grad(const Plan *plan, const Node *node, int threads);
size_t gpu_plan_scratch_grad_norm(const Plan *plan, const Node *node, int threads);
size_t gpu_plan_scratch_reduce(const Plan *plan, const Node *node, int threads);
size_t gpu_plan_scratch_rmsnorm_grad(const Plan *plan, const Node *node, int threads);

/* ---- what kernels and their scratch have in common ---- */

/* The dtype that adamw's copies and gradients have beside f32; f32 when there is none. */
DType gpu_plan_adamw_narrow(const Plan *plan, const Node *node);

enum {
    GPU_PLAN_EMBEDDING_CHUNK = 8192,     /* tokens that are sorted at once */
    GPU_PLAN_GRAD_NORM_BLOCKS = 1024,    /* of a launch, */
    GPU_PLAN_GRAD_NORM_GROUPS = 80,      /* which takes so many gradients */
    GPU_PLAN_REDUCE_WARP = 32,           /* columns of a block, times those of a thread */
    GPU_PLAN_RMSNORM_MOST_PARTIALS = 512 /* rows that blocks leave to be summed */
};

/* How the columns of a matrix are summed: bands of columns times groups of rows, a block each. */
typedef struct GpuPlanColumns {
    int64_t bands, groups, group_rows;
} GpuPlanColumns;

/* Enough blocks to fill a GPU, none with few rows while there are more. `each` is the columns of one thread. */
GpuPlanColumns gpu_plan_columns(const Tensor *x, int each);

#ifdef __cplusplus
}
#endif
#endif
