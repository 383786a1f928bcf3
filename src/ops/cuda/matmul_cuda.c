/* Linear layers and their gradients through cuBLASLt. */
#include "ops/cuda/gemm_cuda.h"
#include "ops/cuda/impls_cuda.h"
#include "ops/matmul.h"

#include <stdlib.h>

/* One of the GEMMs that a product is made of, and the bytes from the beginning of each operand to its own. */
typedef struct Part {
    Gemm *gemm;
    int64_t a, b, c;
} Part;

enum { MOST_PARTS = 2 };
typedef struct Parts {
    Part part[MOST_PARTS];
} Parts;

/* ---- long sides that are not whole vectors ---- */

/* For them the library has only kernels that are several times slower, however the rows are aligned:
 * the vocabulary of GPT-2 has 50,257 words. There the last few elements are a GEMM of their own. */
enum { VECTOR_BYTES = 16, LONG_SIDE = 4096 };

typedef enum Side { SIDE_NONE, SIDE_M, SIDE_N, SIDE_K } Side;

static int64_t *length_of(GemmShape *s, Side side)
{
    return side == SIDE_M ? &s->m : side == SIDE_N ? &s->n : &s->k;
}

static bool rows_are_aligned(const GemmMatrix *m)
{
    return m->align % VECTOR_BYTES == 0 &&
           m->ld * (int64_t)plan_dtype_size(m->dtype) % VECTOR_BYTES == 0;
}

/* The side to part, and how much of it is whole vectors. */
static Side ragged_side(const GemmShape *s, int64_t *whole)
{
    const int64_t vector = VECTOR_BYTES / (int64_t)plan_dtype_size(s->a.dtype);
    const bool tensor_cores = s->a.dtype != DT_F32 || s->tf32;
    if (!tensor_cores || !rows_are_aligned(&s->a) || !rows_are_aligned(&s->b) ||
        !rows_are_aligned(&s->c)) {
        return SIDE_NONE;
    }
    const int64_t lengths[] = {[SIDE_M] = s->m, [SIDE_N] = s->n, [SIDE_K] = s->k};
    for (Side side = SIDE_M; side <= SIDE_K; side++) {
        *whole = lengths[side] - lengths[side] % vector;
        if (lengths[side] > LONG_SIDE && *whole < lengths[side]) return side;
    }
    return SIDE_NONE;
}

/* ---- parts ---- */

static int64_t row_bytes(const GemmMatrix *m)
{
    return m->ld * (int64_t)plan_dtype_size(m->dtype);
}

/* Bytes to element `first` along a side, which runs through the matrix's rows or along them. */
static int64_t bytes_to(const GemmMatrix *m, int64_t first, bool along_rows)
{
    return first * (along_rows ? (int64_t)plan_dtype_size(m->dtype) : row_bytes(m));
}

static Part part_at(const GemmShape *s, Side side, int64_t first)
{
    switch (side) {
    case SIDE_M:
        return (Part){.a = bytes_to(&s->a, first, s->transpose_a),
                      .c = bytes_to(&s->c, first, false)};
    case SIDE_N:
        return (Part){.b = bytes_to(&s->b, first, !s->transpose_b),
                      .c = bytes_to(&s->c, first, true)};
    case SIDE_K:
        return (Part){.a = bytes_to(&s->a, first, !s->transpose_a),
                      .b = bytes_to(&s->b, first, s->transpose_b)};
    default:
        return (Part){0};
    }
}

static const void *begin(const void *data, int64_t bytes)
{
    return (const char *)data + bytes;
}

static Status open_part(const OpCall *call, Part *part, GemmShape shape)
{
    const void *a = begin(op_in(call, 0), part->a), *b = begin(op_in(call, 1), part->b);
    void *c = (char *)op_out(call, 0) + part->c;
    shape.a.align = gemm_cuda_align(a, 0, 0);
    shape.b.align = gemm_cuda_align(b, 0, 0);
    shape.c.align = gemm_cuda_align(c, 0, 0);
    shape.bias_align = gemm_cuda_align(shape.bias, 0, 0);
    return gemm_cuda_open(call, &shape, a, b, c, &part->gemm);
}

/* The rest comes first: along K the whole vectors are added to it, and what 16 bits round away of a
 * few terms is little beside what they round away of the sum. */
static Status open_both(const OpCall *call, Parts *p, const GemmShape *s, Side side, int64_t whole)
{
    GemmShape rest = *s, most = *s;
    *length_of(&rest, side) -= whole;
    *length_of(&most, side) = whole;
    if (side == SIDE_N && s->bias)
        rest.bias = begin(s->bias, whole * (int64_t)plan_dtype_size(s->c.dtype));
    if (side == SIDE_K) {
        most.accumulate = true;
        most.bias = NULL;
    }
    p->part[0] = part_at(s, side, whole);
    TRY(open_part(call, &p->part[0], rest));
    return open_part(call, &p->part[1], most);
}

/* ---- the op ---- */

static GemmMatrix matrix_of(const Tensor *t, const void *data)
{
    return (GemmMatrix){.dtype = t->dtype, .ld = t->ld, .align = gemm_cuda_align(data, 0, 0)};
}

static GemmShape shape_of(const OpCall *call)
{
    const NodeAttr *attr = &call->node->attr;
    const Tensor *c = op_out_shape(call, 0), *a = op_in_shape(call, 0), *b = op_in_shape(call, 1);
    return (GemmShape){.m = plan_rows(c),
                       .n = plan_width(c),
                       .k = attr->transpose_a ? plan_rows(a) : plan_width(a),
                       .batch = 1,
                       .a = matrix_of(a, op_in(call, 0)),
                       .b = matrix_of(b, op_in(call, 1)),
                       .c = matrix_of(c, op_out(call, 0)),
                       .transpose_a = attr->transpose_a,
                       .transpose_b = attr->transpose_b,
                       .tf32 = attr->tf32,
                       .accumulate = attr->accumulate,
                       .bias = op_in(call, MATMUL_IN_BIAS)};
}

static Status prepare(const OpCall *call)
{
    const GemmShape shape = shape_of(call);
    int64_t whole = 0;
    Parts *p = calloc(1, sizeof *p);
    if (!p) return NO_MEMORY("for a product");
    *call->state = p;
    const Side side = ragged_side(&shape, &whole);
    return side == SIDE_NONE ? open_part(call, &p->part[0], shape)
                             : open_both(call, p, &shape, side, whole);
}

static Status run(const OpCall *call)
{
    const Parts *p = *call->state;
    for (int i = 0; i < MOST_PARTS && p->part[i].gemm; i++) {
        const Part *part = &p->part[i];
        TRY(gemm_cuda_run(part->gemm, call->backend, 1, begin(op_in(call, 0), part->a),
                          begin(op_in(call, 1), part->b), (char *)op_out(call, 0) + part->c,
                          call->workspace));
    }
    return ST_OK;
}

static void free_parts(void *state)
{
    Parts *p = state;
    for (int i = 0; i < MOST_PARTS; i++) {
        if (p->part[i].gemm) gemm_cuda_free(p->part[i].gemm);
    }
    free(p);
}

const OpImpl matmul_cuda[] = {{"cublaslt", gpu_support_declines_matmul,
                               gpu_support_workspace_cublaslt, run, prepare, free_parts},
                              {0}};
