/* `flash` on a GPU: which of the precisions' kernels runs a node, and where its operands lie. */
#include "ops/attention_cuda/attention_flash_cuda.cuh"
#include "ops/attention_cuda/attention_flash_cuda.h"

/* ---- operands ---- */

/* Of a node whose inputs from `first` on are q, k and v. */
static FlashShape shape_of(const OpCall *call, int first)
{
    const NodeAttr &attr = call->node->attr;
    const GpuSupportHeads h = gpu_support_attention_heads(call->plan, call->node, first);
    FlashShape s = {};
    s.T = (int)h.T;
    s.heads = (int)h.H;
    s.D = (int)h.D;
    s.count = (int)(h.B * h.H);
    s.scale = (float)attr.scale;
    s.causal = attr.causal;
    s.vectorized = true;
    s.group = (int)h.group;
    s.key_heads = s.heads / s.group;
    s.window = (int)h.window;
    return s;
}

static FlashMatrix matrix_of(const Tensor *t, const void *data, FlashShape *s)
{
    const int64_t vector = 16 / (int64_t)plan_dtype_size(t->dtype);
    FlashMatrix m = {};
    m.data = const_cast<void *>(data);
    m.ld = t->ld;
    m.head_step = s->D;
    m.batch_step = s->T * t->ld;
    s->vectorized =
        s->vectorized && s->D % vector == 0 && t->ld % vector == 0 && (uintptr_t)data % 16 == 0;
    return m;
}

static FlashMatrix in(const OpCall *call, int i, FlashShape *s)
{
    return matrix_of(op_in_shape(call, i), op_in(call, i), s);
}

static FlashMatrix out(const OpCall *call, int i, FlashShape *s)
{
    return matrix_of(op_out_shape(call, i), op_out(call, i), s);
}

static FlashForward forward_of(const OpCall *call)
{
    FlashForward f = {};
    f.shape = shape_of(call, 0);
    f.q = in(call, 0, &f.shape);
    f.k = in(call, 1, &f.shape);
    f.v = in(call, 2, &f.shape);
    f.out = out(call, 0, &f.shape);
    f.lse = static_cast<float *>(op_out(call, 1));
    return f;
}

static FlashBackward backward_of(const OpCall *call)
{
    FlashBackward f = {};
    f.shape = shape_of(call, 1);
    f.dq = out(call, 0, &f.shape);
    f.dk = out(call, 1, &f.shape);
    f.dv = out(call, 2, &f.shape);
    f.dout = in(call, 0, &f.shape);
    f.q = in(call, 1, &f.shape);
    f.k = in(call, 2, &f.shape);
    f.v = in(call, 3, &f.shape);
    f.out = in(call, 4, &f.shape);
    f.lse = static_cast<const float *>(op_in(call, 5));
    return f;
}

/* ---- running ---- */
static const FlashKernels &kernels_of(const OpCall *call, int q)
{
    const DType dtype = op_in_shape(call, q)->dtype;
    const FlashShape s = shape_of(call, q);
    const bool general = s.group > 1 || s.window < s.T;
    if (dtype == DT_BF16) return general ? attention_flash_bf16_general : attention_flash_bf16;
    if (dtype == DT_F16) return general ? attention_flash_f16_general : attention_flash_f16;
    if (dtype != DT_F32) plan_dtype_unknown(dtype, "flash attention");
    if (call->node->attr.tf32) return general ? attention_flash_tf32_general : attention_flash_tf32;
    return general ? attention_flash_f32_general : attention_flash_f32;
}

static Status check_chip(const Backend *be, const FlashKernels &k)
{
    if (be->capability >= k.capability) return ST_OK;
    return FAIL(ST_UNSUPPORTED,
                "flash attention in %s needs tensor cores of compute capability %d.%d and this GPU "
                "has %d.%d: use --attention fused",
                k.name, k.capability / 10, k.capability % 10, be->capability / 10,
                be->capability % 10);
}

Status attention_flash_prepare(const OpCall *call)
{
    const FlashKernels &k = kernels_of(call, 0);
    TRY(check_chip(call->backend, k));
    return k.forward(call->backend, forward_of(call), true);
}

Status attention_flash_prepare_grad(const OpCall *call)
{
    const FlashKernels &k = kernels_of(call, 1);
    TRY(check_chip(call->backend, k));
    return k.backward(call->backend, backward_of(call), call->workspace, true);
}

Status attention_flash_run(const OpCall *call)
{
    return kernels_of(call, 0).forward(call->backend, forward_of(call), false);
}

Status attention_flash_run_grad(const OpCall *call)
{
    return kernels_of(call, 1).backward(call->backend, backward_of(call), call->workspace, false);
}
