/* cuBLASLt is column-major: row-major c = op(a) op(b) is asked for as c^T = op(b)^T op(a)^T, so b is
 * its first operand and n its number of rows. */
#include "ops/cuda/gemm_cuda.h"

#include "ops/cuda/matmul_tuner_cuda.h"
#include "ops/gpu_plan.h"

enum { CANDIDATES = 16, ROUNDS = 3, RUNS = 4, LEAST_CANDIDATES = 4 };
static const float long_ms = 2;     /* one such run tells enough of an algorithm, */
static const float enough_ms = 300; /* and so many ms of them enough of a product */

/* What products are tried on. */
typedef struct Operands {
    const void *a, *b;
    void *c, *workspace;
} Operands;

static cudaDataType_t data_type(DType dtype)
{
    if (dtype == DT_BF16) return CUDA_R_16BF;
    if (dtype == DT_F16) return CUDA_R_16F;
    return CUDA_R_32F;
}

static cublasComputeType_t compute_type(const ProductShape *s)
{
    /* CUBLAS_COMPUTE_32F never rounds fp32 operands; NVIDIA_TF32_OVERRIDE can only forbid TF32 */
    return s->tf32 && s->a == DT_F32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

static Status layout(cublasLtMatrixLayout_t *out, DType dtype, int64_t rows, int64_t cols,
                     int64_t ld, int64_t batch, int64_t step)
{
    const int32_t count = (int32_t)batch;
    TRY_CUBLAS(
        cublasLtMatrixLayoutCreate(out, data_type(dtype), (uint64_t)cols, (uint64_t)rows, ld));
    if (batch == 1) return ST_OK;
    TRY_CUBLAS(cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                sizeof count));
    TRY_CUBLAS(cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &step, sizeof step));
    return ST_OK;
}

static Status describe(Product *p)
{
    const ProductShape *s = &p->shape;
    const cublasOperation_t first = s->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = s->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    TRY_CUBLAS(cublasLtMatmulDescCreate(&p->operation, compute_type(s), CUDA_R_32F));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_TRANSA, &first,
                                              sizeof first));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_TRANSB, &second,
                                              sizeof second));
    TRY(layout(&p->a, s->a, s->transpose_a ? s->k : s->m, s->transpose_a ? s->m : s->k, s->lda,
               s->batch, s->a_step));
    TRY(layout(&p->b, s->b, s->transpose_b ? s->n : s->k, s->transpose_b ? s->k : s->n, s->ldb,
               s->batch, s->b_step));
    return layout(&p->c, s->c, s->m, s->n, s->ldc, s->batch, s->c_step);
}

uint32_t gemm_cuda_align(const void *data, int64_t step_bytes, int64_t stack_bytes)
{
    const uint64_t bits =
        (uint64_t)(uintptr_t)data | (uint64_t)step_bytes | (uint64_t)stack_bytes | 256U;
    return (uint32_t)(bits & -bits);
}

static void prefer_align(cublasLtMatmulPreference_t preference, const ProductShape *s)
{
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        uint32_t bytes;
    } sides[] = {{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, s->b_align},
                 {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, s->a_align},
                 {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, s->c_align},
                 {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, s->c_align}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        cublasLtMatmulPreferenceSetAttribute(preference, sides[i].attribute, &sides[i].bytes,
                                             sizeof sides[i].bytes);
    }
}

static Status candidates(Product *p, Backend *be, cublasLtMatmulHeuristicResult_t *found, int *n)
{
    cublasLtMatmulPreference_t preference = NULL;
    const size_t workspace = GPU_PLAN_CUBLASLT;
    /* partial sums of a split product stay fp32 whatever the result's type */
    const uint32_t schemes =
        CUBLASLT_REDUCTION_SCHEME_MASK & ~(uint32_t)CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
    TRY_CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace, sizeof workspace);
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                         &schemes, sizeof schemes);
    prefer_align(preference, &p->shape);
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        be->lt, p->operation, p->b, p->a, p->c, p->c, preference, CANDIDATES, found, n);
    cublasLtMatmulPreferenceDestroy(preference);
    TRY_CUBLAS(status);
    if (*n == 0) return FAIL(ST_UNSUPPORTED, "cuBLASLt has no algorithm for this product");
    return ST_OK;
}

static Status time_runs(const Product *p, Backend *be, const Operands *x, int runs, float *ms)
{
    TRY_CUDA(cudaEventRecord(be->marks[0], be->stream));
    for (int i = 0; i < runs; i++) TRY(gemm_cuda_run(p, be, 1, x->a, x->b, x->c, x->workspace));
    TRY_CUDA(cudaEventRecord(be->marks[1], be->stream));
    TRY_CUDA(cudaEventSynchronize(be->marks[1]));
    TRY_CUDA(cudaEventElapsedTime(ms, be->marks[0], be->marks[1]));
    *ms /= (float)runs;
    return ST_OK;
}

/* Of one run: the shortest of a few rounds. */
static Status time_algorithm(const Product *p, Backend *be, const Operands *x, float *shortest)
{
    TRY(time_runs(p, be, x, 1, shortest));
    for (int r = 0; r < ROUNDS && *shortest < long_ms; r++) {
        float ms = 0;
        TRY(time_runs(p, be, x, RUNS, &ms));
        if (ms < *shortest) *shortest = ms;
    }
    return ST_OK;
}

/* An algorithm that refuses these operands is passed over. The library proposes the likeliest first. */
static Status choose(Product *p, Backend *be, const Operands *x)
{
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    int n = 0, best = -1;
    float least = 0, spent = 0;
    TRY(candidates(p, be, found, &n));
    for (int i = 0; i < n && (i < LEAST_CANDIDATES || spent < enough_ms); i++) {
        float ms = 0;
        p->algorithm = found[i].algo;
        if (gemm_cuda_run(p, be, 1, x->a, x->b, x->c, x->workspace) != ST_OK) continue;
        TRY(time_algorithm(p, be, x, &ms));
        spent += 2 * ms;
        if (best >= 0 && ms >= least) continue;
        best = i;
        least = ms;
    }
    if (best < 0) return FAIL(ST_DEVICE, "every algorithm of cuBLASLt refused this product");
    p->algorithm = found[best].algo;
    return ST_OK;
}

/* What came from a file may be damaged. */
static bool takes(const Product *p, Backend *be, size_t *bytes)
{
    cublasLtMatmulHeuristicResult_t result;
    if (cublasLtMatmulAlgoCheck(be->lt, p->operation, p->b, p->a, p->c, p->c, &p->algorithm,
                                &result) != CUBLAS_STATUS_SUCCESS) {
        return false;
    }
    *bytes = result.workspaceSize;
    return *bytes <= GPU_PLAN_CUBLASLT;
}

Status gemm_cuda_prepare(Product *p, Backend *be, const ProductShape *shape, const void *a,
                         const void *b, void *c, void *workspace)
{
    *p = (Product){.shape = *shape};
    TRY(describe(p));
    size_t bytes = 0;
    const bool known = matmul_tuner_cuda_find(be, shape, &p->algorithm);
    if (!known || !takes(p, be, &bytes)) {
        TRY(choose(p, be, &(Operands){a, b, c, workspace}));
        TRY(matmul_tuner_cuda_keep(be, shape, known, &p->algorithm));
    }
    if (takes(p, be, &bytes)) p->slot = cuda_backend_slot(be, bytes);
    return ST_OK;
}

Status gemm_cuda_run(const Product *p, Backend *be, float scale, const void *a, const void *b,
                     void *c, void *workspace)
{
    const float zero = 0;
    const size_t bytes = p->slot ? CUDA_BACKEND_SLOT : GPU_PLAN_CUBLASLT;
    TRY_CUBLAS(cublasLtMatmul(be->lt, p->operation, &scale, b, p->b, a, p->a, &zero, c, p->c, c,
                              p->c, &p->algorithm, p->slot ? p->slot : workspace, bytes,
                              be->stream));
    return ST_OK;
}

void gemm_cuda_free(Product *p)
{
    if (p->operation) cublasLtMatmulDescDestroy(p->operation);
    if (p->a) cublasLtMatrixLayoutDestroy(p->a);
    if (p->b) cublasLtMatrixLayoutDestroy(p->b);
    if (p->c) cublasLtMatrixLayoutDestroy(p->c);
    *p = (Product){0};
}
