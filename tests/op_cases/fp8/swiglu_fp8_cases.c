#include "op_cases/op_cases.h"
#include "ops/fp8/quantize.h"

/* What GPUs take: less than a block's part, several, and parts that end within the matrix. */
static const int64_t shapes[][2] = {{16, 16},  {32, 24},   {48, 136},
                                    {144, 64}, {272, 200}, {128, 1048}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Outputs as they lie, transposed or both, and sizes of earlier steps: some numbers are larger. */
static void add_place(Builder *b, int *out, int *in, DType to, int pairs, int64_t rows,
                      int64_t cols)
{
    for (int i = 0; i < QUANTIZE_OUTS; i++) out[i] = PLAN_NONE;
    if (pairs != 1) {
        out[0] = builder_tensor(b, "q", TK_ACTIVATION, to, DIMS(rows, cols));
        out[1] = builder_tensor(b, "scale", TK_ACTIVATION, DT_F32, DIMS(1, 1));
    }
    if (pairs != 0) {
        out[2] = builder_tensor(b, "q^T", TK_ACTIVATION, to, DIMS(cols, rows));
        out[3] = builder_tensor(b, "scale^T", TK_ACTIVATION, DT_F32, DIMS(1, 1));
    }
    out[4] = builder_tensor(b, "~0.25amax", TK_STATE, DT_F32, DIMS(1));
    in[0] = builder_tensor(b, "+recent", TK_STATE, DT_F32, DIMS(1));
    in[1] = out[4];
}

bool swiglu_fp8_cases(Builder *b, int i, DType act)
{
    if (i >= 3 * N_SHAPES) return false;
    const int64_t N = shapes[i / 3][0], F = shapes[i / 3][1];
    const int h = builder_tensor(b, "~2h", TK_ACTIVATION, act, DIMS(N, 2 * F));
    int out[QUANTIZE_OUTS], in[2];
    add_place(b, out, in, DT_E4M3, i % 3, N, F);
    builder_node(b, OP_swiglu_fp8, out, QUANTIZE_OUTS, IDS(h, in[0], in[1]));
    return true;
}

/* With g and without. */
bool swiglu_fp8_grad_cases(Builder *b, int i, DType act)
{
    if (i >= 6 * N_SHAPES) return false;
    const int64_t N = shapes[i / 6][0], F = shapes[i / 6][1];
    const int dg = builder_tensor(b, "dg", TK_ACTIVATION, act, DIMS(N, F));
    const int h = builder_tensor(b, "~2h", TK_ACTIVATION, act, DIMS(N, 2 * F));
    int out[2 * QUANTIZE_OUTS], in[4];
    add_place(b, out, in, i % 2 ? DT_E4M3 : DT_E5M2, i % 3, N, 2 * F);
    if (i % 6 < 3) {
        builder_node(b, OP_swiglu_fp8_grad, out, QUANTIZE_OUTS, IDS(dg, h, in[0], in[1]));
        return true;
    }
    add_place(b, out + QUANTIZE_OUTS, in + 2, DT_E4M3, (i + 1) % 3, N, F);
    builder_node(b, OP_swiglu_fp8_grad, out, 2 * QUANTIZE_OUTS,
                 IDS(dg, h, in[0], in[1], in[2], in[3]));
    return true;
}
