/* The gate and its gradient, quantized before they leave the registers (ops/fp8/swiglu_fp8.c). */
#include "ops/cuda/swiglu_math_cuda.cuh"
#include "ops/fp8_cuda/quantize_epilogue_cuda.cuh"

using Narrow = __nv_bfloat16;
/* Some rows of a part as they lie in memory: in half the registers. */
using Raw = Vector<Narrow, WIDE>[HIGH];

struct GateArgs {
    const Narrow *dg, *h1, *h3; /* dg: of the gradient */
    int64_t rows, F, ld;        /* ld: from a row of h to the next */
    unsigned parts_wide;
    PartTarget g;           /* of the gradient: no pair where it is not wanted again */
    PartTarget left, right; /* dh1 and dh3, windows into one matrix */
};

__device__ __forceinline__ void load_part(Raw &raw, const Narrow *x, int64_t ld, const PartPlace &p)
{
    const Narrow *row = x + (p.first_row + p.row) * ld + p.first_col + p.col;
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
        raw[i] = {};
        if (p.inside) load_raw(raw[i], row + i * ld);
    }
}

__device__ __forceinline__ void widen_part(float (&v)[HIGH][WIDE], const Raw &raw)
{
#pragma unroll
    for (int i = 0; i < HIGH; i++) widen(v[i], raw[i]);
}

__device__ __forceinline__ void round_part(Vector<Narrow, WIDE> &raw, const float (&v)[WIDE])
{
    uint32_t words[WIDE / 2];
#pragma unroll
    for (int j = 0; j < WIDE / 2; j++) words[j] = round_pair(Narrow(), v[2 * j], v[2 * j + 1]);
    memcpy(raw.v, words, sizeof words);
}

__global__ void __launch_bounds__(PART_THREADS, 3) swiglu_fp8_kernel(const GateArgs f)
{
    __shared__ PartWords s;
    wait_for_dependency();
    const PartPlace p = part_place(f.rows, f.F, f.parts_wide);
    Raw h1, h3;
    load_part(h1, f.h1, f.ld, p);
    load_part(h3, f.h3, f.ld, p);
    part_clear(s);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
        float x[WIDE], y[WIDE];
        widen(x, h1[i]);
        widen(y, h3[i]);
#pragma unroll
        for (int j = 0; j < WIDE; j++) x[j] = swiglu_gate(x[j], y[j]);
        round_part(h1[i], x);
    }
    float v[HIGH][WIDE];
    widen_part(v, h1);
    part_quantize<false>(f.g, v, p, &s.most[0], s);
    __syncthreads();
    if (threadIdx.x == 0) part_end<false>(f.g, s.most[0]);
}

/* dg, h1 and h3 make room for g, dh1 and dh3. */
__device__ __forceinline__ void gate_gradient(Raw &dg, Raw &h1, Raw &h3)
{
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
        float d[WIDE], x[WIDE], y[WIDE];
        widen(d, dg[i]);
        widen(x, h1[i]);
        widen(y, h3[i]);
#pragma unroll
        for (int j = 0; j < WIDE; j++) swiglu_gradient(x[j], y[j], d[j]);
        round_part(dg[i], d);
        round_part(h1[i], x);
        round_part(h3[i], y);
    }
}

template <bool E5M2>
__global__ void __launch_bounds__(PART_THREADS, 3) swiglu_fp8_grad_kernel(const GateArgs f)
{
    __shared__ PartWords s;
    wait_for_dependency();
    const PartPlace p = part_place(f.rows, f.F, f.parts_wide);
    Raw dg, h1, h3;
    load_part(dg, f.dg, f.F, p);
    load_part(h1, f.h1, f.ld, p);
    load_part(h3, f.h3, f.ld, p);
    part_clear(s);
    __syncthreads();
    gate_gradient(dg, h1, h3);
    float v[HIGH][WIDE];
    widen_part(v, h1);
    part_quantize<E5M2>(f.left, v, p, &s.most[0], s);
    widen_part(v, h3);
    part_quantize<E5M2>(f.right, v, p, &s.most[0], s);
    const bool again = f.g.q || f.g.transposed;
    if (again) {
        widen_part(v, dg);
        part_quantize<false>(f.g, v, p, &s.most[1], s);
    }
    __syncthreads();
    if (threadIdx.x == 0) part_end<E5M2>(f.left, s.most[0]);
    if (threadIdx.x == 32 && again) part_end<false>(f.g, s.most[1]);
}

static Status take_gate(const OpCall *call, int h, GateArgs *f)
{
    const Tensor *t = op_in_shape(call, h);
    f->rows = plan_rows(t);
    f->F = plan_width(t) / 2;
    f->ld = plan_width(t);
    f->h1 = (const Narrow *)op_in(call, h);
    f->h3 = f->h1 + f->F;
    f->parts_wide = (unsigned)blocks_for(f->F, PART_WIDE);
    if (part_aligned(f->h1) && part_aligned(f->dg)) return ST_OK;
    return FAIL(ST_FAILED, "%s: numbers that begin at no multiple of 16 bytes", call->node->scope);
}

static Status launch_parts(const OpCall *call, void (*kernel)(GateArgs), const GateArgs &f)
{
    const int64_t parts = blocks_for(f.rows, TILE) * f.parts_wide;
    if (parts > 0x7fffffff) return FAIL(ST_UNSUPPORTED, "%s: too many rows", call->node->scope);
    return launch_dependent(call->backend, kernel, dim3((unsigned)parts), dim3(PART_THREADS), f);
}

Status swiglu_fp8_cuda_run(const OpCall *call)
{
    GateArgs f = {};
    QuantizePlace place[QUANTIZE_PLACES];
    quantize_places(call->node, place);
    TRY(take_gate(call, 0, &f));
    TRY(part_target(call, place[0], f.rows, f.F, &f.g));
    return launch_parts(call, swiglu_fp8_kernel, f);
}

Status swiglu_fp8_grad_cuda_run(const OpCall *call)
{
    GateArgs f = {};
    QuantizePlace place[QUANTIZE_PLACES];
    const int n = quantize_places(call->node, place);
    f.dg = (const Narrow *)op_in(call, 0);
    TRY(take_gate(call, 1, &f));
    TRY(part_target(call, place[0], f.rows, 2 * f.F, &f.left));
    if (n == 2) TRY(part_target(call, place[1], f.rows, f.F, &f.g));
    f.left.cols = f.F;
    f.right = f.left;
    if (f.right.q) f.right.q += f.F;
    if (f.right.transposed) f.right.transposed += f.F * f.rows;
    const Tensor *q = op_out_shape(call, QUANTIZE_OUT_Q);
    const Tensor *shape = q ? q : op_out_shape(call, QUANTIZE_OUT_TRANSPOSED);
    return launch_parts(
        call,
        shape->dtype == DT_E5M2 ? swiglu_fp8_grad_kernel<true> : swiglu_fp8_grad_kernel<false>, f);
}
