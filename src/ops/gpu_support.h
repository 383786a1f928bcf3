/* Which nodes the GPU implementations take and how much workspace they need: known without a GPU
 * and in every build, so that a build without CUDA can plan a step. ops/cuda/ adds how they run.
 *
 * Libraries cannot be asked without a device: their workspaces are the constants below, the most
 * they get. */
#pragma once

#include "ops/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Implementations that libraries take part in, best first, ended by {0}; none of them has a run().
 * Those of all other ops come from ops/gpu_kernels.def. */
extern const OpImpl gpu_support_matmul[], gpu_support_bmm[], gpu_support_scaled_matmul[];
extern const OpImpl gpu_support_attention[], gpu_support_attention_grad[];

/* Bytes of workspace that cuBLASLt gets for a GEMM and cuDNN for an attention. */
enum { GPU_SUPPORT_CUBLASLT = 32 << 20, GPU_SUPPORT_CUDNN = 1 << 20 };

/* Why a float kernel cannot take a node: a float64 operand other than the step state. NULL if it can. */
const char *gpu_support_declines_f64(const Plan *plan, const Node *node);
const char *gpu_support_declines_accumulate(const Plan *plan, const Node *node);
const char *gpu_support_declines_adamw(const Plan *plan, const Node *node);
const char *gpu_support_declines_adamw_part(const Plan *plan, const Node *node);
const char *gpu_support_declines_cast(const Plan *plan, const Node *node);
const char *gpu_support_declines_cross_entropy_grad(const Plan *plan, const Node *node);
const char *gpu_support_declines_experts(const Plan *plan, const Node *node); /* always */
const char *gpu_support_declines_rope(const Plan *plan, const Node *node);
const char *gpu_support_declines_broadcast(const Plan *plan, const Node *node);
const char *gpu_support_declines_matmul(const Plan *plan, const Node *node);
const char *gpu_support_declines_bmm_fp32(const Plan *plan, const Node *node);

size_t gpu_support_workspace_cublaslt(const Plan *plan, const Node *node, int threads);
/* cuBLASLt's, and after it the sums over the heads of a group, which are fp32 until they are whole: so
 * many bytes where a 16-bit result is such a sum. */
size_t gpu_support_workspace_bmm(const Plan *plan, const Node *node, int threads);
size_t gpu_support_bmm_sum_bytes(const Plan *plan, const Node *node);
size_t gpu_support_workspace_cross_entropy(const Plan *plan, const Node *node, int threads);
size_t gpu_support_workspace_embedding_grad(const Plan *plan, const Node *node, int threads);
size_t gpu_support_workspace_grad_norm(const Plan *plan, const Node *node, int threads);
size_t gpu_support_workspace_reduce(const Plan *plan, const Node *node, int threads);
size_t gpu_support_workspace_head_norm_grad(const Plan *plan, const Node *node, int threads);
size_t gpu_support_workspace_norm_grad(const Plan *plan, const Node *node, int threads);

/* ---- attention ---- */

/* The heads of an attention whose inputs from `q` on are q, k and v. */
typedef struct GpuSupportHeads {
    int64_t B, T, H, D;
    int64_t group;  /* heads of q that share one of k and v */
    int64_t window; /* keys that a query sees at most: T without a window */
} GpuSupportHeads;
GpuSupportHeads gpu_support_attention_heads(const Plan *plan, const Node *node, int q);

/* `flash`: the program's own kernels. */
const char *gpu_support_attention_declines_flash(const Plan *plan, const Node *node);
const char *gpu_support_attention_declines_flash_grad(const Plan *plan, const Node *node);
size_t gpu_support_attention_workspace_flash_grad(const Plan *plan, const Node *node, int threads);

/* cuDNN's, 16 bit. */
const char *gpu_support_attention_declines_cudnn(const Plan *plan, const Node *node);
const char *gpu_support_attention_declines_cudnn_grad(const Plan *plan, const Node *node);
size_t gpu_support_attention_workspace_cudnn(const Plan *plan, const Node *node, int threads);
size_t gpu_support_attention_workspace_cudnn_grad(const Plan *plan, const Node *node, int threads);
/* How much of its gradient's workspace cuDNN gets, and what follows that: bytes of the row sums,
 * and after them the fp32 sums of dq. */
size_t gpu_support_attention_cudnn_bytes(const Plan *plan, const Node *node);
size_t gpu_support_attention_row_bytes(int64_t rows);

/* ---- 8-bit floats (ops/fp8/gpu_support_fp8.c) ---- */

/* Of swiglu_fp8 and swiglu_fp8_grad. */
const char *gpu_support_fp8_declines_gate(const Plan *plan, const Node *node);

/* Tensor cores multiply them from here on; cuBLASLt takes scales of rows and blocks on this chip alone. */
enum { GPU_SUPPORT_FP8_CAPABILITY = 89, GPU_SUPPORT_FP8_ROWS_CAPABILITY = 90 };

/* Which numbers of a matrix share a scale: all; a row; 128 of a row; a square of 128 x 128. */
typedef enum GpuSupportScales {
    GPU_SUPPORT_SCALES_TENSOR,
    GPU_SUPPORT_SCALES_ROWS,
    GPU_SUPPORT_SCALES_BLOCKS,
    GPU_SUPPORT_SCALES_SQUARES,
    GPU_SUPPORT_SCALES_NONE /* others, or there is no matrix */
} GpuSupportScales;

/* Of quantize: of the outputs `first` (the numbers) and `first` + 1 (their scales). */
GpuSupportScales gpu_support_fp8_scales(const Plan *plan, const Node *node, int first);

/* What its first pass leaves in the workspace, in this order, as 32-bit words: largest sizes of parts of
 * the matrix, of each row, of each column. 0: not asked for. */
typedef struct GpuSupportSizes {
    int64_t partials, rows, cols;
} GpuSupportSizes;
GpuSupportSizes gpu_support_fp8_sizes(const Plan *plan, const Node *node);
const char *gpu_support_fp8_declines_quantize(const Plan *plan, const Node *node);
size_t gpu_support_fp8_workspace_quantize(const Plan *plan, const Node *node, int threads);

/* How cuBLASLt is to read the scales of scaled_matmul. */
typedef struct GpuSupportScalePair {
    GpuSupportScales a, b;
} GpuSupportScalePair;
GpuSupportScalePair gpu_support_fp8_pair(const Plan *plan, const Node *node);
/* Bytes for scales in the order that cuBLASLt reads; 0 where that is ours. They follow its workspace. */
size_t gpu_support_fp8_moved_bytes(const Tensor *scale, GpuSupportScales scales);
/* Scales from one row of squares to the next in that order. */
int64_t gpu_support_fp8_square_step(int64_t cols);
const char *gpu_support_fp8_declines_scaled_matmul(const Plan *plan, const Node *node);
size_t gpu_support_fp8_workspace_scaled_matmul(const Plan *plan, const Node *node, int threads);
/* NULL when cuBLASLt of this version (120900 is 12.9.0) has such scales, otherwise what is missing. */
const char *gpu_support_fp8_library_lacks(GpuSupportScalePair pair, size_t version);

/* ---- what kernels and their workspace have in common ---- */

/* The dtype of adamw's 16-bit copies and gradients; f32 when there are none. */
DType gpu_support_adamw_narrow(const Plan *plan, const Node *node);

enum {
    GPU_SUPPORT_EMBEDDING_CHUNK = 8192,  /* tokens sorted at once */
    GPU_SUPPORT_FP8_PARTIALS = 512,      /* thread blocks that look for the largest number */
    GPU_SUPPORT_GRAD_NORM_BLOCKS = 1024, /* thread blocks of a launch */
    GPU_SUPPORT_GRAD_NORM_GROUPS = 80,   /* gradients of a launch */
    GPU_SUPPORT_REDUCE_WARP = 32, /* columns of a thread block are 32 times those of a thread */
    GPU_SUPPORT_NORM_MOST_PARTIALS = 512 /* partial rows that blocks leave to be summed */
};

/* How the columns of a matrix are summed: bands of columns times groups of rows, a block each. */
typedef struct GpuSupportColumns {
    int64_t bands, groups, group_rows;
} GpuSupportColumns;

/* Enough blocks to fill a GPU, none with few rows while there are more. `each` is the columns of
 * one thread. */
GpuSupportColumns gpu_support_columns(const Tensor *x, int each);

#ifdef __cplusplus
}
#endif
