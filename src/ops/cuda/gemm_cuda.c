/* cuBLASLt is column-major: row-major c = op(a) op(b) is asked for as c^T = op(b)^T op(a)^T, so b is
 * its first operand and n its number of rows. */
#include "ops/cuda/gemm_cuda.h"

#include "base/disk_cache.h"
#include "ops/gpu_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 16, ROUNDS = 3, RUNS = 4, LEAST_CANDIDATES = 4 };
static const float long_ms = 2;     /* an algorithm this slow is timed once */
static const float enough_ms = 300; /* after this long only LEAST_CANDIDATES are timed */

#define TRY_CUBLAS(call) TRY(blas_status((call), #call))

static Status blas_status(cublasStatus_t error, const char *call)
{
    if (error == CUBLAS_STATUS_SUCCESS) return ST_OK;
    const bool lacks = error == CUBLAS_STATUS_NOT_SUPPORTED || error == CUBLAS_STATUS_ARCH_MISMATCH;
    return FAIL(lacks ? ST_UNSUPPORTED : ST_DEVICE, "cuBLASLt: %s (%s)",
                cublasLtGetStatusString(error), call);
}

static void release_handle(void *lt)
{
    cublasLtDestroy(lt);
}

/* The handle of this device, created at the first call. */
static Status handle_of(Backend *be, cublasLtHandle_t *lt)
{
    *lt = cuda_backend_kept(be, release_handle);
    if (*lt) return ST_OK;
    TRY_CUBLAS(cublasLtCreate(lt));
    return cuda_backend_keep(be, *lt, release_handle);
}

/* ---- descriptors ---- */

/* What algorithms are timed on. */
typedef struct Operands {
    const void *a, *b;
    void *c, *workspace;
} Operands;

static cudaDataType_t data_type(DType dtype)
{
    if (dtype == DT_BF16) return CUDA_R_16BF;
    if (dtype == DT_F16) return CUDA_R_16F;
    if (dtype == DT_E4M3) return CUDA_R_8F_E4M3;
    if (dtype == DT_E5M2) return CUDA_R_8F_E5M2;
    if (dtype != DT_F32) plan_dtype_unknown(dtype, "cuBLASLt");
    return CUDA_R_32F;
}

static cublasComputeType_t compute_type(const GemmShape *s)
{
    /* CUBLAS_COMPUTE_32F never rounds fp32 operands; NVIDIA_TF32_OVERRIDE can only forbid TF32 */
    return s->tf32 && s->a.dtype == DT_F32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

static Status layout(cublasLtMatrixLayout_t *out, const GemmMatrix *m, int64_t rows, int64_t cols,
                     int64_t batch)
{
    const int32_t count = (int32_t)batch;
    TRY_CUBLAS(cublasLtMatrixLayoutCreate(out, data_type(m->dtype), (uint64_t)cols, (uint64_t)rows,
                                          m->ld));
    if (batch == 1) return ST_OK;
    TRY_CUBLAS(cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                sizeof count));
    TRY_CUBLAS(cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &m->step, sizeof m->step));
    return ST_OK;
}

/* To cuBLASLt, which sees c^T, the bias is a column. */
static Status add_bias(Gemm *p)
{
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const cudaDataType_t type = data_type(p->shape.c.dtype);
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                              &epilogue, sizeof epilogue));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
                                              &type, sizeof type));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                              &p->shape.bias, sizeof p->shape.bias));
    return ST_OK;
}

/* b is its first operand, and so are b's scales. One scale for all is what it expects unless told
 * otherwise, and all that versions before 12.9 have. */
static Status add_scales(Gemm *p)
{
    const GemmShape *s = &p->shape;
    const int8_t fast = s->fast ? 1 : 0;
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                                              &s->scale_b, sizeof s->scale_b));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                                              &s->scale_a, sizeof s->scale_a));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                              sizeof fast));
    if (s->scales.a == GPU_SUPPORT_SCALES_TENSOR) return ST_OK;
#if CUBLAS_VERSION >= 120900
    static const int32_t modes[] = {
        [GPU_SUPPORT_SCALES_ROWS] = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F,
        [GPU_SUPPORT_SCALES_BLOCKS] = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
        [GPU_SUPPORT_SCALES_SQUARES] = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F};
    const int32_t first = modes[s->scales.b], second = modes[s->scales.a];
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_A_SCALE_MODE,
                                              &first, sizeof first));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_B_SCALE_MODE,
                                              &second, sizeof second));
    return ST_OK;
#else
    return FAIL(ST_UNSUPPORTED, "built with a cuBLASLt that has one scale a matrix");
#endif
}

static Status describe(Gemm *p)
{
    const GemmShape *s = &p->shape;
    const cublasOperation_t first = s->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = s->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    TRY_CUBLAS(cublasLtMatmulDescCreate(&p->operation, compute_type(s), CUDA_R_32F));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_TRANSA, &first,
                                              sizeof first));
    TRY_CUBLAS(cublasLtMatmulDescSetAttribute(p->operation, CUBLASLT_MATMUL_DESC_TRANSB, &second,
                                              sizeof second));
    if (s->bias) TRY(add_bias(p));
    if (s->scale_a) TRY(add_scales(p));
    TRY(layout(&p->a, &s->a, s->transpose_a ? s->k : s->m, s->transpose_a ? s->m : s->k, s->batch));
    TRY(layout(&p->b, &s->b, s->transpose_b ? s->n : s->k, s->transpose_b ? s->k : s->n, s->batch));
    return layout(&p->c, &s->c, s->m, s->n, s->batch);
}

uint32_t gemm_cuda_align(const void *data, int64_t step_bytes, int64_t stack_bytes)
{
    const uint64_t bits =
        (uint64_t)(uintptr_t)data | (uint64_t)step_bytes | (uint64_t)stack_bytes | 256U;
    return (uint32_t)(bits & -bits);
}

/* ---- choosing an algorithm ---- */

static Status candidates(Gemm *p, cublasLtMatmulHeuristicResult_t *found, int *n)
{
    const GemmShape *s = &p->shape;
    const uint64_t workspace = GPU_SUPPORT_CUBLASLT;
    /* the bias is read where results are written, in the same steps */
    const uint32_t result = s->bias && s->bias_align < s->c.align ? s->bias_align : s->c.align;
    /* partial sums of a split-K GEMM stay fp32 whatever the result's type */
    const uint32_t schemes =
        CUBLASLT_REDUCTION_SCHEME_MASK & ~(uint32_t)CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
    const struct {
        cublasLtMatmulPreferenceAttributes_t name;
        const void *value;
        size_t bytes;
    } attributes[] = {{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace},
                      {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &s->b.align, sizeof s->b.align},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &s->a.align, sizeof s->a.align},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &s->c.align, sizeof s->c.align},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &result, sizeof result}};
    cublasLtMatmulPreference_t preference = NULL;
    TRY_CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        cublasLtMatmulPreferenceSetAttribute(preference, attributes[i].name, attributes[i].value,
                                             attributes[i].bytes);
    }
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        p->lt, p->operation, p->b, p->a, p->c, p->c, preference, CANDIDATES, found, n);
    cublasLtMatmulPreferenceDestroy(preference);
    TRY_CUBLAS(status);
    if (*n == 0)
        return FAIL(ST_UNSUPPORTED, "cuBLASLt has no algorithm for this matrix multiplication");
    return ST_OK;
}

static Status time_runs(const Gemm *p, Backend *be, const Operands *x, int runs, float *ms)
{
    TRY_CUDA(cudaEventRecord(be->marks[0], be->stream));
    for (int i = 0; i < runs; i++) TRY(gemm_cuda_run(p, be, 1, x->a, x->b, x->c, x->workspace));
    TRY_CUDA(cudaEventRecord(be->marks[1], be->stream));
    TRY_CUDA(cudaEventSynchronize(be->marks[1]));
    TRY_CUDA(cudaEventElapsedTime(ms, be->marks[0], be->marks[1]));
    *ms /= (float)runs;
    return ST_OK;
}

/* Milliseconds of one run: the shortest of a few rounds. */
static Status time_algorithm(const Gemm *p, Backend *be, const Operands *x, float *shortest)
{
    TRY(time_runs(p, be, x, 1, shortest));
    for (int r = 0; r < ROUNDS && *shortest < long_ms; r++) {
        float ms = 0;
        TRY(time_runs(p, be, x, RUNS, &ms));
        if (ms < *shortest) *shortest = ms;
    }
    return ST_OK;
}

/* Skips algorithms that refuse these operands. The library proposes the likeliest first. */
static Status choose(Gemm *p, Backend *be, const Operands *x)
{
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    int n = 0, best = -1;
    float least = 0, spent = 0;
    TRY(candidates(p, found, &n));
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
    if (best < 0)
        return FAIL(ST_DEVICE, "every cuBLASLt algorithm refused this matrix multiplication");
    p->algorithm = found[best].algo;
    return ST_OK;
}

/* ---- algorithms that were chosen before ---- */

enum { KEY = 320, HEX = 2 * sizeof(cublasLtMatmulAlgo_t) };

static void shape_key(const GemmShape *s, char key[KEY])
{
    snprintf(
        key, KEY,
        "%" PRId64 "x%" PRId64 "x%" PRId64 " ld %" PRId64 ",%" PRId64 ",%" PRId64 " batch %" PRId64
        " steps %" PRId64 ",%" PRId64 ",%" PRId64 " %s*%s=%s align %u,%u,%u %c%c%s%s",
        s->m, s->n, s->k, s->a.ld, s->b.ld, s->c.ld, s->batch, s->a.step, s->b.step, s->c.step,
        plan_dtype_name(s->a.dtype), plan_dtype_name(s->b.dtype), plan_dtype_name(s->c.dtype),
        s->a.align, s->b.align, s->c.align, s->transpose_a ? 't' : 'n', s->transpose_b ? 't' : 'n',
        s->tf32 ? " tf32" : "", s->accumulate ? " accumulate" : "");
    if (s->bias) snprintf(key + strlen(key), KEY - strlen(key), " bias %u", s->bias_align);
    if (s->scale_a)
        snprintf(key + strlen(key), KEY - strlen(key), " scales %d,%d%s", (int)s->scales.a,
                 (int)s->scales.b, s->fast ? " fast" : "");
}

static void release_algorithms(void *table)
{
    disk_cache_free(table);
}

/* The fastest algorithm of each shape, in memory and on disk. One file for each device model and
 * library version, so that none holds foreign algorithms; a corrupt one is ignored with a warning. */
static DiskCache *algorithms_of(Backend *be)
{
    struct cudaDeviceProp properties;
    char file[sizeof properties.name + 64];
    DiskCache *table = cuda_backend_kept(be, release_algorithms);
    if (table) return table;
    const bool named = cudaGetDeviceProperties(&properties, be->device) == cudaSuccess;
    if (named)
        snprintf(file, sizeof file, "cublaslt-%zu-%s", cublasLtGetVersion(), properties.name);
    table = disk_cache_open(named ? file : NULL, "algorithms");
    return table && cuda_backend_keep(be, table, release_algorithms) == ST_OK ? table : NULL;
}

static bool from_hex(const char *hex, cublasLtMatmulAlgo_t *out)
{
    unsigned char bytes[sizeof *out];
    if (!hex || strlen(hex) != HEX) return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned value = 0;
        if (sscanf(hex + 2 * i, "%2x", &value) != 1) return false;
        bytes[i] = (unsigned char)value;
    }
    memcpy(out, bytes, sizeof bytes);
    return true;
}

static void to_hex(const cublasLtMatmulAlgo_t *algorithm, char hex[HEX + 1])
{
    unsigned char bytes[sizeof *algorithm];
    memcpy(bytes, algorithm, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

static bool find_algorithm(Backend *be, const GemmShape *shape, cublasLtMatmulAlgo_t *out)
{
    char key[KEY];
    const DiskCache *table = algorithms_of(be);
    if (!table) return false;
    shape_key(shape, key);
    return from_hex(disk_cache_get(table, key), out);
}

/* Written to disk at once. Where another process has kept one for this shape meanwhile, that one
 * counts and is handed back, unless it is to `replace` a useless one: the same GEMM then has the
 * same bits in both processes. */
static Status keep_algorithm(Backend *be, const GemmShape *shape, bool replace,
                             cublasLtMatmulAlgo_t *algorithm)
{
    char key[KEY], hex[HEX + 1];
    cublasLtMatmulAlgo_t kept;
    DiskCache *table = algorithms_of(be);
    if (!table) return NO_MEMORY("for a table of algorithms");
    shape_key(shape, key);
    to_hex(algorithm, hex);
    const char *there = disk_cache_get(table, key);
    TRY(disk_cache_put(table, key, hex, replace || (there && !from_hex(there, &kept))));
    if (from_hex(disk_cache_get(table, key), &kept)) *algorithm = kept;
    return ST_OK;
}

/* False of an algorithm that came from a damaged file. */
static bool takes(const Gemm *p, size_t *bytes)
{
    cublasLtMatmulHeuristicResult_t result;
    if (cublasLtMatmulAlgoCheck(p->lt, p->operation, p->b, p->a, p->c, p->c, &p->algorithm,
                                &result) != CUBLAS_STATUS_SUCCESS) {
        return false;
    }
    *bytes = result.workspaceSize;
    return *bytes <= GPU_SUPPORT_CUBLASLT;
}

/* ---- what ops call ---- */

static Status prepare(Gemm *p, Backend *be, const Operands *x)
{
    size_t bytes = 0;
    TRY(handle_of(be, &p->lt));
    TRY(describe(p));
    const bool known = find_algorithm(be, &p->shape, &p->algorithm);
    if (!known || !takes(p, &bytes)) {
        TRY(choose(p, be, x));
        TRY(keep_algorithm(be, &p->shape, known, &p->algorithm));
    }
    if (takes(p, &bytes)) p->slot = cuda_backend_slot(be, bytes);
    return ST_OK;
}

Status gemm_cuda_open(const OpCall *call, const GemmShape *shape, const void *a, const void *b,
                      void *c, Gemm **out)
{
    Gemm *p = *out = calloc(1, sizeof *p);
    if (!p) return NO_MEMORY("for a GEMM");
    p->shape = *shape;
    return prepare(p, call->backend, &(Operands){a, b, c, call->workspace});
}

Status gemm_cuda_run(const Gemm *p, Backend *be, float scale, const void *a, const void *b, void *c,
                     void *workspace)
{
    const float beta = p->shape.accumulate ? 1 : 0;
    const size_t bytes = p->slot ? CUDA_BACKEND_SLOT : GPU_SUPPORT_CUBLASLT;
    TRY_CUBLAS(cublasLtMatmul(p->lt, p->operation, &scale, b, p->b, a, p->a, &beta, c, p->c, c,
                              p->c, &p->algorithm, p->slot ? p->slot : workspace, bytes,
                              be->stream));
    return ST_OK;
}

void gemm_cuda_free(void *state)
{
    Gemm *p = state;
    if (p->operation) cublasLtMatmulDescDestroy(p->operation);
    if (p->a) cublasLtMatrixLayoutDestroy(p->a);
    if (p->b) cublasLtMatrixLayoutDestroy(p->b);
    if (p->c) cublasLtMatrixLayoutDestroy(p->c);
    free(p);
}
