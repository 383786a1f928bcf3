/* Rows of a table, and the gradient of the table (ops/embedding.c has the formulas).
 *
 * The gradient adds the rows of each word's tokens in the order of the tokens. To find them, tokens
 * are sorted by word, CHUNK at a time: a token's place is the number of tokens that come before it,
 * which needs no memory but the result and no atomics. The first chunk writes the whole table. */
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, QUAD = 4, UNROLL = 4 };

/* From an fp32 table, the usual one. */
template <typename X>
__global__ void __launch_bounds__(THREADS)
    embedding_kernel(X *x, const float *table, const int32_t *ids, int64_t rows, int64_t C)
{
    const int64_t j = (int64_t)(blockIdx.y * blockDim.x + threadIdx.x) * QUAD;
    if (j >= C) return;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        float v[QUAD];
        load_vector(v, table + ids[row] * C + j);
        store_vector(x + row * C + j, v);
    }
}

__global__ void embedding_plain_kernel(const Operand x, const Operand table, const int32_t *ids,
                                       int64_t rows, int64_t C)
{
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t from = ids[row] * C;
        for (int64_t j = threadIdx.x; j < C; j += blockDim.x) {
            x.set(row * C + j, table.get(from + j));
        }
    }
}

/* One warp a token: its place among the n tokens, by word and then by position. */
__global__ void embedding_sort_kernel(int32_t *words, int32_t *tokens, const int32_t *ids, int n)
{
    const int i = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), lane = threadIdx.x % 32;
    if (i >= n) return;
    const int32_t word = ids[i];
    int before = 0;
    for (int j = lane; j < n; j += 32) {
        const int32_t other = ids[j];
        before += other < word || (other == word && j < i);
    }
    for (int k = 16; k > 0; k >>= 1) before += __shfl_xor_sync(0xffffffffU, before, k);
    if (lane != 0) return;
    words[before] = word;
    tokens[before] = i;
}

/* The first place in words[0..n) that holds `word` or a greater one. */
__device__ __forceinline__ int first_place(const int32_t *words, int n, int64_t word)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (words[middle] < word) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct Sums {
    float *dtable;
    Operand dx; /* of the chunk */
    const int32_t *words, *tokens;
    int64_t V, C;
    int n;
    bool first; /* chunk: writes every row; later ones add to rows that have tokens */
};

/* Adds rows tokens[begin..end) of dx to a quad; UNROLL of them are on their way at once. */
template <typename X>
__device__ __forceinline__ void add_tokens(float (&sum)[QUAD], const X *dx, const int32_t *tokens,
                                           int begin, int end, int64_t C)
{
#pragma unroll 1
    for (int i = begin; i < end; i += UNROLL) {
        float x[UNROLL][QUAD];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            if (i + k < end) load_vector(x[k], dx + tokens[i + k] * C);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
#pragma unroll
            for (int e = 0; e < QUAD; e++) sum[e] += i + k < end ? x[k][e] : 0.0F;
        }
    }
}

/* One word a block at a time. */
template <typename X> __global__ void __launch_bounds__(THREADS) embedding_grad_kernel(const Sums f)
{
    for (int64_t word = blockIdx.x; word < f.V; word += gridDim.x) {
        const int begin = first_place(f.words, f.n, word);
        const bool any = begin < f.n && f.words[begin] == word;
        if (!any && !f.first) continue;
        const int end = any ? first_place(f.words, f.n, word + 1) : begin;
        for (int64_t j = threadIdx.x * QUAD; j < f.C; j += blockDim.x * QUAD) {
            float sum[QUAD] = {};
            if (!f.first) load_vector(sum, f.dtable + word * f.C + j);
            add_tokens(sum, static_cast<const X *>(f.dx.data) + j, f.tokens, begin, end, f.C);
            store_vector(f.dtable + word * f.C + j, sum);
        }
    }
}

__global__ void embedding_grad_plain_kernel(const Sums f)
{
    for (int64_t word = blockIdx.x; word < f.V; word += gridDim.x) {
        const int begin = first_place(f.words, f.n, word);
        if (!f.first && (begin == f.n || f.words[begin] != word)) continue;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            float sum = f.first ? 0 : f.dtable[word * f.C + j];
            for (int i = begin; i < f.n && f.words[i] == word; i++) {
                sum += f.dx.get(f.tokens[i] * f.C + j);
            }
            f.dtable[word * f.C + j] = sum;
        }
    }
}

static bool forward_takes_vectors(const OpCall *call)
{
    const Tensor *x = op_out_shape(call, 0), *table = op_in_shape(call, 0);
    return table->dtype == DT_F32 && plan_width(x) / THREADS <= 65535 &&
           is_vectorizable(op_out(call, 0), x) && is_vectorizable(op_in(call, 0), table);
}

Status embedding_cuda_run(const OpCall *call)
{
    const Tensor *x = op_out_shape(call, 0);
    const int64_t rows = plan_rows(x), C = plan_width(x);
    const int32_t *ids = (const int32_t *)op_in(call, 1);
    const cudaStream_t stream = call->backend->stream;
    if (forward_takes_vectors(call)) {
        const RowGrid at = row_grid(rows, C / QUAD, THREADS);
        const float *table = (const float *)op_in(call, 0);
        DISPATCH_FLOAT(x->dtype, X,
                       (embedding_kernel<X><<<at.grid, at.threads, 0, stream>>>(
                           (X *)op_out(call, 0), table, ids, rows, C)));
    } else {
        embedding_plain_kernel<<<grid_blocks(rows), block_threads(C, THREADS), 0, stream>>>(
            operand_out(call, 0), operand_in(call, 0), ids, rows, C);
    }
    return LAUNCH_STATUS();
}

static Status sum_words(const OpCall *call, const Sums &f)
{
    const unsigned blocks = grid_blocks(f.V);
    const cudaStream_t stream = call->backend->stream;
    if (is_vectorizable(f.dtable, op_out_shape(call, 0)) &&
        is_vectorizable(f.dx.data, op_in_shape(call, 0))) {
        const int threads = block_threads(f.C / QUAD, THREADS);
        DISPATCH_FLOAT(f.dx.dtype, X,
                       (embedding_grad_kernel<X><<<blocks, threads, 0, stream>>>(f)));
    } else {
        embedding_grad_plain_kernel<<<blocks, block_threads(f.C, THREADS), 0, stream>>>(f);
    }
    return LAUNCH_STATUS();
}

static Status sum_chunk(const OpCall *call, int64_t start, int64_t n)
{
    const Tensor *dtable = op_out_shape(call, 0);
    const int32_t *ids = (const int32_t *)op_in(call, 1) + start;
    int32_t *words = (int32_t *)call->workspace, *tokens = words + n;
    embedding_sort_kernel<<<(unsigned)blocks_for(n, THREADS / 32), THREADS, 0,
                            call->backend->stream>>>(words, tokens, ids, (int)n);
    TRY(LAUNCH_STATUS());
    Sums f = {};
    f.V = plan_rows(dtable);
    f.C = plan_width(dtable);
    f.dtable = (float *)op_out(call, 0);
    f.dx = operand_in(call, 0);
    f.dx.data = static_cast<char *>(f.dx.data) + start * f.C * (int64_t)plan_dtype_size(f.dx.dtype);
    f.words = words;
    f.tokens = tokens;
    f.n = (int)n;
    f.first = start == 0;
    return sum_words(call, f);
}

Status embedding_grad_cuda_run(const OpCall *call)
{
    const int64_t rows = plan_rows(op_in_shape(call, 0)), chunk = GPU_SUPPORT_EMBEDDING_CHUNK;
    for (int64_t start = 0; start < rows; start += chunk) {
        TRY(sum_chunk(call, start, std::min(rows - start, chunk)));
    }
    return ST_OK;
}
