#include "base/i64.h"
#include "ops/flash_tiles.h"
#include "ops/gpu_support.h"
#include "ops/head_matrix.h"

GpuSupportHeads gpu_support_attention_heads(const Plan *plan, const Node *node, int q)
{
    const NodeAttr *attr = &node->attr;
    const HeadMatrix m = head_matrix(plan_in(plan, node, q), NULL, attr);
    const HeadMatrix k = head_matrix(plan_in(plan, node, q + 1), NULL, attr);
    const bool windowed = attr->causal && attr->window > 0 && attr->window < attr->tokens;
    return (GpuSupportHeads){.B = m.count / m.heads,
                             .T = m.rows,
                             .H = m.heads,
                             .D = m.cols,
                             .group = k.group,
                             .window = windowed ? attr->window : attr->tokens};
}

/* ---- flash ---- */

/* A query may meet keys before its window first: its largest score is then FLASH_LEAST still, which
 * times the scale must be a number (attention_forward_cuda.cuh). Numbers of keys and queries and the
 * window are added up in 32 bits. */
static const char *declines_flash_window(const GpuSupportHeads *h, double scale)
{
    if (h->window == h->T && h->group == 1) return NULL;
    if (h->T > INT32_MAX / 4) return "too many tokens for flash attention of shared heads";
    if (h->window == h->T || scale <= 2.9) return NULL;
    return "flash attention with a window takes a scale up to 2.9";
}

/* Every operand but `lse` has the heads' dtype. */
static const char *declines_flash(const Plan *plan, const Node *node, int q, int lse)
{
    const Tensor *heads = plan_in(plan, node, q);
    const GpuSupportHeads h = gpu_support_attention_heads(plan, node, q);
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const DType dtype = plan->tensors[plan->operands[node->first + i]].dtype;
        if (dtype == DT_F64) return "float64 runs on a CPU only";
        if (dtype != (i == lse ? DT_F32 : heads->dtype)) return "flash attention takes one dtype";
    }
    if (h.D > FLASH_TILES_MOST_WIDTH) return "flash attention stops at a head width of 512";
    if (plan_rows(heads) > INT32_MAX / h.H) return "too many rows for flash attention";
    if (!(node->attr.scale > 0)) return "flash attention needs a positive scale";
    return declines_flash_window(&h, node->attr.scale);
}

const char *gpu_support_attention_declines_flash(const Plan *plan, const Node *node)
{
    return declines_flash(plan, node, 0, 1);
}

const char *gpu_support_attention_declines_flash_grad(const Plan *plan, const Node *node)
{
    return declines_flash(plan, node, 1, node->n_out + 5);
}

static const FlashTiles *tiles_of(DType dtype, bool tf32, int64_t width)
{
    const bool half = dtype == DT_BF16 || dtype == DT_F16;
    const FlashTiles *tiles = flash_tiles[half   ? FLASH_TILES_HALF
                                          : tf32 ? FLASH_TILES_TF32
                                                 : FLASH_TILES_F32];
    int i = 0;
    while (i < FLASH_TILES_WIDTHS - 1 && tiles[i].width < width) i++;
    return &tiles[i];
}

/* Tiles of dq in fp32, rowsum(dout out) of every row, a counter of every tile and one of all blocks.
 * Where heads share keys, dk and dv of every block of keys in fp32, and a counter of each. */
size_t gpu_support_attention_workspace_flash_grad(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const Tensor *q = plan_in(plan, node, 1);
    const GpuSupportHeads h = gpu_support_attention_heads(plan, node, 1);
    const FlashTiles *c = tiles_of(q->dtype, node->attr.tf32, h.D);
    const int64_t count = h.B * h.H, slices = c->width / c->slice;
    const int64_t tiles = count * slices * i64_ceil_div(h.T, c->queries);
    const int64_t shared = h.group == 1 ? 0 : count / h.group * slices * i64_ceil_div(h.T, c->keys);
    const int64_t sums = tiles * c->queries * c->slice + shared * 2 * c->keys * c->slice;
    return (size_t)(sums + count * h.T) * sizeof(float) +
           (size_t)(tiles + shared + 1) * sizeof(int);
}

/* ---- cuDNN ---- */

static const char *declines_cudnn(const Plan *plan, const Node *node, int q)
{
    const Tensor *t = plan_in(plan, node, q);
    const int64_t D = gpu_support_attention_heads(plan, node, q).D;
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const Tensor *part = &plan->tensors[plan->operands[node->first + i]];
        if (part->n_dims == 2 && (part->ld % 8 != 0 || part->offset % 8 != 0)) {
            return "cuDNN needs heads with rows at multiples of 16 bytes";
        }
    }
    if (t->dtype != DT_BF16 && t->dtype != DT_F16) return "cuDNN's attention is 16 bit only";
    if (D % 8 != 0) return "cuDNN's attention needs a head width that is a multiple of 8";
    if (D > 256) return "cuDNN's attention stops at a head width of 256";
    if (node->attr.tokens < 2) return "cuDNN's attention needs at least 2 tokens";
    return NULL;
}

const char *gpu_support_attention_declines_cudnn(const Plan *plan, const Node *node)
{
    return declines_cudnn(plan, node, 0);
}

const char *gpu_support_attention_declines_cudnn_grad(const Plan *plan, const Node *node)
{
    return declines_cudnn(plan, node, 1);
}

size_t gpu_support_attention_workspace_cudnn(const Plan *plan, const Node *node, int threads)
{
    (void)plan;
    (void)node;
    (void)threads;
    return GPU_SUPPORT_CUDNN;
}

size_t gpu_support_attention_row_bytes(int64_t rows)
{
    return ((size_t)rows * sizeof(float) + 255) / 256 * 256;
}

/* Where heads share keys, cuDNN makes dk and dv of every head of q and then sums them. */
size_t gpu_support_attention_cudnn_bytes(const Plan *plan, const Node *node)
{
    const GpuSupportHeads h = gpu_support_attention_heads(plan, node, 1);
    const int64_t elements = h.group == 1 ? 0 : 2 * h.B * h.T * h.H * h.D;
    return GPU_SUPPORT_CUDNN + gpu_support_attention_row_bytes(elements);
}

/* cuDNN's own, the sums of rows, and the fp32 sums of dq. */
size_t gpu_support_attention_workspace_cudnn_grad(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const Tensor *q = plan_in(plan, node, 1);
    const int64_t tokens = plan_rows(q);
    return gpu_support_attention_cudnn_bytes(plan, node) +
           gpu_support_attention_row_bytes(tokens * node->attr.heads) +
           (size_t)tokens * (size_t)plan_width(q) * sizeof(float);
}

/* ---- the lists ---- */

const OpImpl gpu_support_attention[] = {
    {.name = "cudnn",
     .declines = gpu_support_attention_declines_cudnn,
     .workspace = gpu_support_attention_workspace_cudnn},
    {.name = "flash", .declines = gpu_support_attention_declines_flash},
    {0}};
const OpImpl gpu_support_attention_grad[] = {
    {.name = "cudnn",
     .declines = gpu_support_attention_declines_cudnn_grad,
     .workspace = gpu_support_attention_workspace_cudnn_grad,
     .nondeterministic = true},
    {.name = "flash",
     .declines = gpu_support_attention_declines_flash_grad,
     .workspace = gpu_support_attention_workspace_flash_grad},
    {0}};
