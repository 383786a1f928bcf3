// `limits` of a GPU beside cuBLASLt called directly and a plain copy kernel, in one run. By hand, as
// limits_check of the CPU: a comparison of speeds is no test on a busy machine.
//
// Both sides are the best of their repetitions, and the plain ones run before and after. Ends with 1 when
// a pair differs by more than 5 %.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "bench/limits/limits.h"
#include "bench/limits/limits_gpu.h"
}

#define CHECK(call)                                                            \
    do {                                                                       \
        const int error_ = (int)(call);                                        \
        if (error_) fprintf(stderr, "%s: error %d\n", #call, error_), exit(2); \
    } while (0)

enum { SIDE = 8192, REPEATS = 20, CANDIDATES = 8 };

__device__ float number(size_t i)
{
    unsigned x = (unsigned)i * 2654435761U;
    x ^= x >> 16;
    x *= 0x85ebca6bU;
    x ^= x >> 13;
    return (float)x / 2147483648.0F - 1;
}

template <typename T> __global__ void fill(T *data, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        data[i] = (T)number(i);
    }
}

__global__ void plain_copy(float4 *to, const float4 *from)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    to[i] = from[i];
}

template <typename F> static double best_seconds(F work)
{
    cudaEvent_t start, end;
    float best = 1e30F;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < REPEATS; i++) {
        float ms = 0;
        CHECK(cudaEventRecord(start));
        work();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, start, end));
        best = i > 0 && ms < best ? ms : best;
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    return best * 1e-3;
}

static double copy_rate(void)
{
    const size_t bytes = (size_t)2 << 30;
    void *to, *from;
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMemset(from, 1, bytes));
    const double seconds = best_seconds([&] {
        plain_copy<<<(unsigned)(bytes / 16 / 512), 512>>>((float4 *)to, (const float4 *)from);
    });
    const double memcpy_seconds =
        best_seconds([&] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
    printf("(cudaMemcpy from device to device: %.1f GB/s)\n", 2e-9 * bytes / memcpy_seconds);
    CHECK(cudaFree(to));
    CHECK(cudaFree(from));
    return 2.0 * bytes / seconds;
}

/* The best of the library's first proposals, as [out, in] weights are multiplied: c = a b^T. */
template <typename T> static double product_rate(cudaDataType_t type, cublasComputeType_t compute)
{
    const size_t n = (size_t)SIDE * SIDE, space = 32 << 20;
    T *a, *b, *c;
    void *workspace;
    CHECK(cudaMalloc(&a, n * sizeof(T)));
    CHECK(cudaMalloc(&b, n * sizeof(T)));
    CHECK(cudaMalloc(&c, n * sizeof(T)));
    CHECK(cudaMalloc(&workspace, space));
    fill<<<1024, 256>>>(a, n);
    fill<<<1024, 256>>>(b, n);
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t layout;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    int count = 0;
    const cublasOperation_t turned = CUBLAS_OP_T;
    const float one = 1, zero = 0;
    CHECK(cublasLtCreate(&lt));
    CHECK(cublasLtMatmulDescCreate(&operation, compute, CUDA_R_32F));
    CHECK(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &turned,
                                         sizeof turned));
    CHECK(cublasLtMatrixLayoutCreate(&layout, type, SIDE, SIDE, SIDE));
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &space, sizeof space));
    CHECK(cublasLtMatmulAlgoGetHeuristic(lt, operation, layout, layout, layout, layout, preference,
                                         CANDIDATES, found, &count));
    double best = 0;
    for (int i = 0; i < count; i++) {
        const double seconds = best_seconds([&] {
            CHECK(cublasLtMatmul(lt, operation, &one, b, layout, a, layout, &zero, c, layout, c,
                                 layout, &found[i].algo, workspace, space, 0));
        });
        best = fmax(best, 2.0 * SIDE * n / seconds);
    }
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(operation);
    cublasLtDestroy(lt);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(workspace));
    return best;
}

struct Plain {
    double copy, fp32, tf32, bf16;
};

static Plain plain(void)
{
    return {copy_rate(), product_rate<float>(CUDA_R_32F, CUBLAS_COMPUTE_32F),
            product_rate<float>(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32),
            product_rate<__nv_bfloat16>(CUDA_R_16BF, CUBLAS_COMPUTE_32F)};
}

static int compare(const char *what, double ours, double before, double after, double unit)
{
    const double theirs = fmax(before, after), off = 100 * (ours / theirs - 1);
    printf("%-26s limits %8.2f   plain %8.2f   %+.1f %%\n", what, ours / unit, theirs / unit, off);
    return fabs(off) > 5;
}

int main(void)
{
    Limits limits;
    const Plain before = plain();
    if (limits_gpu_measure(0, &limits) != ST_OK) {
        fprintf(stderr, "limits_check_cuda: %s\n", status_message());
        return 2;
    }
    const Plain after = plain();
    printf("%s, %s; measured in %.1f s; others %.0f %%; slowed by: %s\n", limits.key.gpu,
           limits.key.blas, limits.seconds, 100 * limits.others, limits.throttled);
    int bad = compare("copy (GB/s)", limits.rate[LIMIT_COPY][LIMITS_ALL].max, before.copy,
                      after.copy, 1e9);
    bad |= compare("fp32 product (TFLOP/s)", limits_peak_flops(&limits, PRECISION_FP32),
                   before.fp32, after.fp32, 1e12);
    bad |= compare("tf32 product (TFLOP/s)", limits_peak_flops(&limits, PRECISION_TF32),
                   before.tf32, after.tf32, 1e12);
    bad |= compare("bf16 product (TFLOP/s)", limits_peak_flops(&limits, PRECISION_BF16),
                   before.bf16, after.bf16, 1e12);
    return bad;
}
