#include "base/i64.h"
#include "ops/flash_tiles.h"
#include "ops/gpu_support.h"

/* ---- flash ---- */

/* Every operand but `lse` has the heads' dtype. */
static const char *declines_flash(const Plan *plan, const Node *node, int q, int lse)
{
    const Tensor *heads = plan_in(plan, node, q);
    for (int i = 0; i < node->n_out + node->n_in; i++) {
        const DType dtype = plan->tensors[plan->operands[node->first + i]].dtype;
        if (dtype == DT_F64) return "float64 runs on a CPU only";
        if (dtype != (i == lse ? DT_F32 : heads->dtype)) return "flash attention takes one dtype";
    }
    if (plan_width(heads) / node->attr.heads > FLASH_TILES_MOST_WIDTH) {
        return "flash attention stops at a head width of 512";
    }
    if (plan_rows(heads) > INT32_MAX / node->attr.heads) return "too many rows for flash attention";
    return node->attr.scale > 0 ? NULL : "flash attention needs a positive scale";
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

/* Tiles of dq in fp32, rowsum(dout out) of every row, a counter of every tile and one of all blocks. */
size_t gpu_support_attention_workspace_flash_grad(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const Tensor *q = plan_in(plan, node, 1);
    const int64_t T = node->attr.tokens, count = plan_rows(q) / T * node->attr.heads;
    const FlashTiles *c = tiles_of(q->dtype, node->attr.tf32, plan_width(q) / node->attr.heads);
    const int64_t tiles = count * (c->width / c->slice) * i64_ceil_div(T, c->queries);
    return (size_t)(tiles * c->queries * c->slice + count * T) * sizeof(float) +
           (size_t)(tiles + 1) * sizeof(int);
}

/* ---- cuDNN ---- */

static const char *declines_cudnn(const Plan *plan, const Node *node, int q)
{
    const Tensor *t = plan_in(plan, node, q);
    const int64_t D = plan_width(t) / node->attr.heads;
    for (int i = q; i < q + 3; i++) {
        const Tensor *part = plan_in(plan, node, i);
        if (part->ld != t->ld || part->ld % 8 != 0 || part->offset % 8 != 0) {
            return "cuDNN needs q, k and v with rows at multiples of 16 bytes";
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

/* cuDNN's own, the sums of rows, and the fp32 sums of dq. */
size_t gpu_support_attention_workspace_cudnn_grad(const Plan *plan, const Node *node, int threads)
{
    (void)threads;
    const Tensor *q = plan_in(plan, node, 1);
    const int64_t tokens = plan_rows(q);
    return GPU_SUPPORT_CUDNN + gpu_support_attention_row_bytes(tokens * node->attr.heads) +
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
