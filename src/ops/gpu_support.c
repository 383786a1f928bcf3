#include "ops/gpu_support.h"

#include "base/i64.h"
#include "ops/head_matrix.h"
#include "ops/matmul.h"
#include "plan/op_functions.h"

static const char on_cpu_only[] = "float64 runs on a CPU only";

static bool is_f64(const Tensor *tensor)
{
    return tensor->dtype == DT_F64;
}

const char *gpu_support_declines_f64(const Plan *plan, const Node *node)
{
    return op_has_f64(plan, node) ? on_cpu_only : NULL;
}

/* ---- matrix multiplications ---- */

size_t gpu_support_workspace_cublaslt(const Plan *plan, const Node *node, int threads)
{
    (void)plan;
    (void)node;
    (void)threads;
    return GPU_SUPPORT_CUBLASLT;
}

const char *gpu_support_declines_matmul(const Plan *plan, const Node *node)
{
    const Tensor *bias = plan_in(plan, node, MATMUL_IN_BIAS), *c = plan_out(plan, node, 0);
    if (bias && bias->dtype != c->dtype) return "cuBLASLt adds a bias of the output's dtype";
    return gpu_support_declines_f64(plan, node);
}

size_t gpu_support_bmm_sum_bytes(const Plan *plan, const Node *node)
{
    const Tensor *c = plan_out(plan, node, 0);
    const bool sums = head_matrix(c, NULL, &node->attr).group > 1;
    return sums && plan_dtype_size(c->dtype) == 2 ? (size_t)plan_elements(c) * sizeof(float) : 0;
}

size_t gpu_support_workspace_bmm(const Plan *plan, const Node *node, int threads)
{
    return gpu_support_workspace_cublaslt(plan, node, threads) +
           gpu_support_bmm_sum_bytes(plan, node);
}

static bool has_whole_vectors(const Tensor *t, const NodeAttr *attr)
{
    enum { VECTOR = 4 };
    const HeadMatrix m = head_matrix(t, NULL, attr);
    return t->offset % VECTOR == 0 && m.rows % VECTOR == 0 && m.cols % VECTOR == 0 &&
           m.ld % VECTOR == 0;
}

/* On an H200, 8 matrices of 1,024 tokens, of cuBLASLt's time: heads of 16 0.5 (scores 0.9), of 32
 * 0.75 (scores 1.0), of 64 0.9 (scores 1.1); over 4,096 tokens of 64 1.05. 4 x 16 heads of 64 over
 * 512 tokens, which cuBLASLt takes in four calls: 0.5 (scores 1.0); of 128: 1.15 and more. */
static bool fp32_is_faster(const Plan *plan, const Node *node)
{
    enum { NARROW = 32, MOST = 64, LONG = 2048 };
    const HeadMatrix a = head_matrix(plan_in(plan, node, 0), NULL, &node->attr);
    const HeadMatrix c = head_matrix(plan_out(plan, node, 0), NULL, &node->attr);
    const int64_t width = i64_min(a.cols, c.cols); /* of a head */
    if (width <= NARROW || width > MOST) return width <= NARROW;
    if (c.heads > 1 && c.count > c.heads) return true;
    return !node->attr.transpose_b && c.rows <= LONG;
}

const char *gpu_support_declines_bmm_fp32(const Plan *plan, const Node *node)
{
    const NodeAttr *attr = &node->attr;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const Tensor *t = &plan->tensors[plan->operands[node->first + i]];
        if (t->dtype != DT_F32 || attr->tf32) return "it takes fp32 alone";
        if (!has_whole_vectors(t, attr)) return "rows are not a multiple of 16 bytes";
    }
    if (attr->transpose_a && attr->transpose_b) return "both operands are transposed";
    if (head_matrix(plan_in(plan, node, 0), NULL, attr).group > 1)
        return "it takes a first operand with all heads";
    if (!fp32_is_faster(plan, node)) return "cuBLASLt is faster for heads of this width";
    const int chip = backend_api(BACKEND_cuda)->capability(0);
    return chip > 0 && chip < 80 ? "it needs a GPU of compute capability 8.0 or more" : NULL;
}

/* ---- the optimizer ---- */

DType gpu_support_adamw_narrow(const Plan *plan, const Node *node)
{
    for (int i = 0; i < node->n_in - 1; i++) {
        const Tensor *copy = plan_out(plan, node, 4 * i + 3), *g = plan_in(plan, node, i);
        if (copy) return copy->dtype;
        if (g->dtype != DT_F32) return g->dtype;
    }
    return DT_F32;
}

const char *gpu_support_declines_adamw(const Plan *plan, const Node *node)
{
    const DType narrow = gpu_support_adamw_narrow(plan, node);
    for (int i = 0; i < node->n_in - 1; i++) {
        const Tensor *copy = plan_out(plan, node, 4 * i + 3), *g = plan_in(plan, node, i);
        if ((copy && copy->dtype != narrow) || (g->dtype != DT_F32 && g->dtype != narrow))
            return "its 16-bit gradients and copies have to be of one dtype: with --precision fp16 "
                   "gradients travel in fp32 or auto, not in bf16";
    }
    return gpu_support_declines_f64(plan, node);
}

const char *gpu_support_declines_adamw_part(const Plan *plan, const Node *node)
{
    const bool moved = plan_out_id(plan, node, 0) != plan_in_id(plan, node, 0);
    if (op_functions_in_place(node->attr.fn) && moved) return "it updates in place";
    return gpu_support_declines_f64(plan, node);
}

/* One sum of every block of every launch. */
size_t gpu_support_workspace_grad_norm(const Plan *plan, const Node *node, int threads)
{
    (void)plan;
    (void)threads;
    return (size_t)i64_ceil_div(node->n_in - 1, GPU_SUPPORT_GRAD_NORM_GROUPS) *
           GPU_SUPPORT_GRAD_NORM_BLOCKS * sizeof(double);
}

/* ---- gradient accumulation ---- */

const char *gpu_support_declines_accumulate(const Plan *plan, const Node *node)
{
    return is_f64(plan_out(plan, node, 0)) || is_f64(plan_in(plan, node, 0)) ? on_cpu_only : NULL;
}

/* ---- the rest of a step ---- */

const char *gpu_support_declines_cast(const Plan *plan, const Node *node)
{
    if (plan_in(plan, node, 0)->dtype == DT_I32 || plan_out(plan, node, 0)->dtype == DT_I32) {
        return "integers run on a CPU only";
    }
    return gpu_support_declines_f64(plan, node);
}

/* dloss alone may be float64. */
const char *gpu_support_declines_cross_entropy_grad(const Plan *plan, const Node *node)
{
    const bool wide = is_f64(plan_out(plan, node, 0)) || is_f64(plan_in(plan, node, 1)) ||
                      is_f64(plan_in(plan, node, 3));
    return wide ? on_cpu_only : NULL;
}

/* The loss of every row. */
size_t gpu_support_workspace_cross_entropy(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    return (size_t)plan_rows(plan_in(plan, node, 0)) * sizeof(float);
}

/* Words and tokens of a chunk. */
size_t gpu_support_workspace_embedding_grad(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const int64_t rows = plan_rows(plan_in(plan, node, 0));
    const int64_t chunk = i64_min(rows, GPU_SUPPORT_EMBEDDING_CHUNK);
    return (size_t)chunk * 2 * sizeof(int32_t);
}

/* In place nothing is copied, which needs equal dtypes. */
const char *gpu_support_declines_experts(const Plan *plan, const Node *node)
{
    (void)plan;
    (void)node;
    return "experts run on a CPU alone so far: use --device cpu";
}

const char *gpu_support_declines_rope(const Plan *plan, const Node *node)
{
    if (plan_in(plan, node, 0)->dtype != plan_out(plan, node, 0)->dtype) {
        return "x and y differ in dtype";
    }
    return gpu_support_declines_f64(plan, node);
}

const char *gpu_support_declines_broadcast(const Plan *plan, const Node *node)
{
    const Tensor *y = plan_out(plan, node, 0), *x = plan_in(plan, node, 0);
    return is_f64(y) || (is_f64(x) && plan_elements(x) > 1) ? on_cpu_only : NULL;
}

GpuSupportColumns gpu_support_columns(const Tensor *x, int each)
{
    enum { GROUP_ROWS = 32, MOST_BLOCKS = 1024 };
    const int64_t R = plan_rows(x);
    const int64_t bands = i64_ceil_div(plan_width(x), (int64_t)GPU_SUPPORT_REDUCE_WARP * each);
    const int64_t most = bands < MOST_BLOCKS ? MOST_BLOCKS / bands : 1;
    const int64_t count = i64_min(i64_ceil_div(R, GROUP_ROWS), most);
    const int64_t group_rows = i64_ceil_div(R, count);
    const GpuSupportColumns columns = {bands, i64_ceil_div(R, group_rows), group_rows};
    return columns;
}

/* Packs may turn out not to fit where the tensor lies: there is room for either. */
size_t gpu_support_workspace_reduce(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    if (node->attr.fn != FN_COL_SUM) return 0;
    const Tensor *x = plan_in(plan, node, 0);
    const int64_t a = gpu_support_columns(x, 16 / (int)plan_dtype_size(x->dtype)).groups;
    const int64_t b = gpu_support_columns(x, 1).groups;
    return (size_t)i64_max(a, b) * (size_t)plan_width(x) * sizeof(float);
}

size_t gpu_support_workspace_head_norm_grad(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    return (size_t)(GPU_SUPPORT_NORM_MOST_PARTIALS * plan_elements(plan_in(plan, node, 2))) *
           sizeof(float);
}

size_t gpu_support_workspace_norm_grad(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const Tensor *s = plan_in(plan, node, 1);
    const int64_t rows = i64_min(plan_rows(s), GPU_SUPPORT_NORM_MOST_PARTIALS);
    const int64_t sums = node->op == OP_layernorm_grad ? 2 : 1; /* of weight and bias */
    return (size_t)(rows * sums * plan_width(s)) * sizeof(float);
}

/* ---- implementations that libraries take part in: as NAME_cuda[], without run(), which tests
 * compare ---- */

const OpImpl gpu_support_matmul[] = {{.name = "cublaslt",
                                      .declines = gpu_support_declines_matmul,
                                      .workspace = gpu_support_workspace_cublaslt},
                                     {0}};
const OpImpl gpu_support_bmm[] = {
    {.name = "product_fp32", .declines = gpu_support_declines_bmm_fp32},
    {.name = "cublaslt",
     .declines = gpu_support_declines_f64,
     .workspace = gpu_support_workspace_bmm},
    {0}};
const OpImpl gpu_support_scaled_matmul[] = {{.name = "cublaslt",
                                             .declines = gpu_support_fp8_declines_scaled_matmul,
                                             .workspace = gpu_support_fp8_workspace_scaled_matmul},
                                            {0}};
