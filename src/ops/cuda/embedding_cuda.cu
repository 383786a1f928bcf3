/* Rows of a table, and the gradient of the table (ops/embedding.c has the formulas).
 *
 * The gradient adds the rows of each word's tokens in the order of the tokens. To find them, tokens
 * are sorted by word, CHUNK at a time: a token's place is the number of tokens that come before it,
 * which needs no memory but the result and no atomics. The first chunk writes the whole table, unless
 * that accumulates; a table of 16 bit is rounded once a chunk. */
#include "ops/cuda/launch_cuda.cuh"

enum { THREADS = 256, QUAD = 4, UNROLL = 4 };
enum { IN_POSITIONS = 2, OUT_DPOSITIONS = 1 };

struct EmbeddingArgs {
    Operand x, table, positions; /* [N, C], [V, C], [P, C] or absent */
    const int32_t *ids;
    int64_t rows, C, T;
};

template <typename X, typename Table, bool POSITIONS>
__global__ void __launch_bounds__(THREADS) embedding_kernel(const EmbeddingArgs f)
{
    const int64_t j = (int64_t)(blockIdx.y * blockDim.x + threadIdx.x) * QUAD;
    if (j >= f.C) return;
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        float v[QUAD];
        load_vector(v, static_cast<const Table *>(f.table.data) + f.ids[row] * f.C + j);
        if constexpr (POSITIONS) {
            float place[QUAD];
            load_vector(place, static_cast<const float *>(f.positions.data) + row % f.T * f.C + j);
#pragma unroll
            for (int e = 0; e < QUAD; e++) v[e] += place[e];
        }
        store_vector(static_cast<X *>(f.x.data) + row * f.C + j, v);
    }
}

__global__ void embedding_plain_kernel(const EmbeddingArgs f)
{
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        const int64_t from = f.ids[row] * f.C, place = f.positions.data ? row % f.T * f.C : 0;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            const float v = f.table.get(from + j);
            f.x.set(row * f.C + j, f.positions.data ? v + f.positions.get(place + j) : v);
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
    Operand dtable;
    Operand dx; /* of the chunk */
    const int32_t *words, *tokens;
    int64_t V, C;
    int n;
};

/* Kernels are WHOLE and write every row, or add to the rows that have tokens. */

/* The tokens of one word: places [begin, end). */
struct Word {
    int64_t word;
    int begin, end;
};

/* Word `i` where all V are written, else the one whose tokens begin at place i: none there, where
 * begin is end. */
template <bool WHOLE> __device__ __forceinline__ Word find_word(const Sums &f, int64_t i)
{
    if constexpr (!WHOLE) {
        const int32_t word = f.words[i];
        if (i > 0 && f.words[i - 1] == word) return {word, (int)i, (int)i};
        return {word, (int)i, first_place(f.words, f.n, (int64_t)word + 1)};
    }
    const int begin = first_place(f.words, f.n, i);
    const bool any = begin < f.n && f.words[begin] == i;
    return {i, begin, any ? first_place(f.words, f.n, i + 1) : begin};
}

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
template <typename X, typename Table, bool WHOLE>
__global__ void __launch_bounds__(THREADS) embedding_grad_kernel(const Sums f)
{
    const int64_t count = WHOLE ? f.V : f.n;
    for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
        const Word w = find_word<WHOLE>(f, i);
        if (!WHOLE && w.begin == w.end) continue;
        Table *row = static_cast<Table *>(f.dtable.data) + w.word * f.C;
        for (int64_t j = threadIdx.x * QUAD; j < f.C; j += blockDim.x * QUAD) {
            float sum[QUAD] = {};
            if constexpr (!WHOLE) load_vector(sum, (const Table *)row + j);
            add_tokens(sum, static_cast<const X *>(f.dx.data) + j, f.tokens, w.begin, w.end, f.C);
            store_vector(row + j, sum);
        }
    }
}

template <bool WHOLE> __global__ void embedding_grad_plain_kernel(const Sums f)
{
    const int64_t count = WHOLE ? f.V : f.n;
    for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
        const Word w = find_word<WHOLE>(f, i);
        if (!WHOLE && w.begin == w.end) continue;
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            float sum = WHOLE ? 0 : f.dtable.get(w.word * f.C + j);
            for (int k = w.begin; k < w.end; k++) sum += f.dx.get(f.tokens[k] * f.C + j);
            f.dtable.set(w.word * f.C + j, sum);
        }
    }
}

struct PlaceSums {
    Operand dpositions, dx;
    int64_t rows, C, T, P;
};

/* Adds up the sequences in their order; places that no token has become 0. */
template <typename X>
__global__ void __launch_bounds__(THREADS) embedding_places_kernel(const PlaceSums f)
{
    const int64_t j = (int64_t)(blockIdx.y * blockDim.x + threadIdx.x) * QUAD;
    if (j >= f.C) return;
    for (int64_t t = blockIdx.x; t < f.P; t += gridDim.x) {
        float sum[QUAD] = {};
#pragma unroll 4
        for (int64_t row = t < f.T ? t : f.rows; row < f.rows; row += f.T) {
            float x[QUAD];
            load_vector(x, static_cast<const X *>(f.dx.data) + row * f.C + j);
#pragma unroll
            for (int e = 0; e < QUAD; e++) sum[e] += x[e];
        }
        store_vector(static_cast<float *>(f.dpositions.data) + t * f.C + j, sum);
    }
}

__global__ void embedding_places_plain_kernel(const PlaceSums f)
{
    for (int64_t t = blockIdx.x; t < f.P; t += gridDim.x) {
        for (int64_t j = threadIdx.x; j < f.C; j += blockDim.x) {
            float sum = 0;
            for (int64_t row = t < f.T ? t : f.rows; row < f.rows; row += f.T) {
                sum += f.dx.get(row * f.C + j);
            }
            f.dpositions.set(t * f.C + j, sum);
        }
    }
}

/* ---- forward ---- */

static bool forward_takes_vectors(const OpCall *call)
{
    const Tensor *x = op_out_shape(call, 0), *table = op_in_shape(call, 0);
    const Tensor *positions = op_in_shape(call, IN_POSITIONS);
    if (positions && positions->dtype != DT_F32) return false;
    return plan_width(x) / THREADS <= 65535 && is_vectorizable(op_out(call, 0), x) &&
           is_vectorizable(op_in(call, 0), table) &&
           is_vectorizable(op_in(call, IN_POSITIONS), positions);
}

template <typename X, typename Table>
static void launch_embedding(const EmbeddingArgs &f, cudaStream_t stream)
{
    const RowGrid at = row_grid(f.rows, f.C / QUAD, THREADS);
    if (f.positions.data) {
        embedding_kernel<X, Table, true><<<at.grid, at.threads, 0, stream>>>(f);
    } else {
        embedding_kernel<X, Table, false><<<at.grid, at.threads, 0, stream>>>(f);
    }
}

Status embedding_cuda_run(const OpCall *call)
{
    const Tensor *x = op_out_shape(call, 0);
    EmbeddingArgs f = {};
    f.x = operand_out(call, 0);
    f.table = operand_in(call, 0);
    f.positions = operand_in(call, IN_POSITIONS);
    f.ids = (const int32_t *)op_in(call, 1);
    f.rows = plan_rows(x);
    f.C = plan_width(x);
    f.T = call->node->attr.tokens;
    const cudaStream_t stream = call->backend->stream;
    if (forward_takes_vectors(call)) {
        DISPATCH_FLOAT(
            x->dtype, X,
            DISPATCH_FLOAT(f.table.dtype, Table, (launch_embedding<X, Table>(f, stream))));
    } else {
        embedding_plain_kernel<<<grid_blocks(f.rows), block_threads(f.C, THREADS), 0, stream>>>(f);
    }
    return LAUNCH_STATUS();
}

/* ---- gradient ---- */

template <bool WHOLE> static Status sum_words(const OpCall *call, const Sums &f)
{
    const unsigned blocks = grid_blocks(WHOLE ? f.V : f.n);
    const cudaStream_t stream = call->backend->stream;
    if (is_vectorizable(f.dtable.data, op_out_shape(call, 0)) &&
        is_vectorizable(f.dx.data, op_in_shape(call, 0))) {
        const int threads = block_threads(f.C / QUAD, THREADS);
        DISPATCH_FLOAT(f.dx.dtype, X,
                       DISPATCH_FLOAT(f.dtable.dtype, Table,
                                      (embedding_grad_kernel<X, Table, WHOLE>
                                       <<<blocks, threads, 0, stream>>>(f))));
    } else {
        embedding_grad_plain_kernel<WHOLE><<<blocks, block_threads(f.C, THREADS), 0, stream>>>(f);
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
    f.dtable = operand_out(call, 0);
    f.dx = operand_in(call, 0);
    f.dx.data = static_cast<char *>(f.dx.data) + start * f.C * (int64_t)plan_dtype_size(f.dx.dtype);
    f.words = words;
    f.tokens = tokens;
    f.n = (int)n;
    const bool whole = start == 0 && !call->node->attr.accumulate;
    return whole ? sum_words<true>(call, f) : sum_words<false>(call, f);
}

static Status sum_places(const OpCall *call)
{
    const Tensor *dpositions = op_out_shape(call, OUT_DPOSITIONS), *dx = op_in_shape(call, 0);
    const cudaStream_t stream = call->backend->stream;
    PlaceSums f = {};
    f.dpositions = operand_out(call, OUT_DPOSITIONS);
    f.dx = operand_in(call, 0);
    f.rows = plan_rows(dx);
    f.C = plan_width(dx);
    f.T = call->node->attr.tokens;
    f.P = plan_rows(dpositions);
    if (dpositions->dtype == DT_F32 && f.C / THREADS <= 65535 &&
        is_vectorizable(f.dpositions.data, dpositions) && is_vectorizable(f.dx.data, dx)) {
        const RowGrid at = row_grid(f.P, f.C / QUAD, THREADS);
        DISPATCH_FLOAT(dx->dtype, X,
                       (embedding_places_kernel<X><<<at.grid, at.threads, 0, stream>>>(f)));
    } else {
        embedding_places_plain_kernel<<<grid_blocks(f.P), block_threads(f.C, THREADS), 0, stream>>>(
            f);
    }
    return LAUNCH_STATUS();
}

Status embedding_grad_cuda_run(const OpCall *call)
{
    const int64_t rows = plan_rows(op_in_shape(call, 0)), chunk = GPU_SUPPORT_EMBEDDING_CHUNK;
    for (int64_t start = 0; start < rows; start += chunk) {
        TRY(sum_chunk(call, start, std::min(rows - start, chunk)));
    }
    return op_out_shape(call, OUT_DPOSITIONS) ? sum_places(call) : ST_OK;
}
