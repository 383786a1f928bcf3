/* The squared norm of all gradients (ops/grad_norm.c). A fixed number of blocks goes over the groups
 * in tiles, each leaves one sum in the workspace, and one block adds those in a fixed order. */
#include "ops/cuda/block_reduce_cuda.cuh"
#include "ops/cuda/launch_cuda.cuh"
#include "plan/step_state.h"

enum {
    THREADS = 256,
    ROUNDS = 2,
    TILE = THREADS * WIDTH * ROUNDS,
    BLOCKS = GPU_SUPPORT_GRAD_NORM_BLOCKS,
    SUM_THREADS = 1024,
    MOST_GROUPS = GPU_SUPPORT_GRAD_NORM_GROUPS
};

struct Group {
    Operand g;
    int64_t n, end_tile; /* elements; the first tile of the next group */
    bool vectorized;
};

struct Groups {
    int count;
    Group group[MOST_GROUPS];
};
static_assert(sizeof(Groups) + sizeof(void *) <= 4096, "the parameters of a kernel");

/* The vectors of a tile, all on their way before the first is used. Squares are taken in double: fp32
 * gradients may be as large as 1e38. */
template <typename T>
__device__ __forceinline__ double vectors_sum(const void *g, int64_t begin, int64_t end)
{
    constexpr int W = vector_width<T>, VECTORS = TILE / THREADS / W;
    const int64_t first = begin + threadIdx.x * W;
    Vector<T, W> vector[VECTORS];
    double sum = 0;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        const int64_t i = first + k * THREADS * W;
        if (i < end) load_raw(vector[k], static_cast<const T *>(g) + i);
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        if (first + k * THREADS * W >= end) continue;
        float x[W];
        widen(x, vector[k]);
#pragma unroll
        for (int e = 0; e < W; e++) sum += (double)x[e] * (double)x[e];
    }
    return sum;
}

__device__ __forceinline__ double tile_sum(const Group &k, int64_t begin)
{
    const int64_t end = begin + TILE < k.n ? begin + TILE : k.n;
    const int64_t whole = k.vectorized ? begin + (end - begin) / WIDTH * WIDTH : begin;
    double sum = 0;
    switch (k.g.dtype) {
    case DT_BF16:
        sum = vectors_sum<__nv_bfloat16>(k.g.data, begin, whole);
        break;
    case DT_F16:
        sum = vectors_sum<__half>(k.g.data, begin, whole);
        break;
    default:
        sum = vectors_sum<float>(k.g.data, begin, whole);
        break;
    }
    for (int64_t i = whole + threadIdx.x; i < end; i += THREADS) {
        const double x = (double)k.g.get(i);
        sum += x * x;
    }
    return sum;
}

__global__ void __launch_bounds__(THREADS) grad_norm_kernel(const Groups groups, double *partial)
{
    __shared__ double shared[THREADS / 32];
    const int64_t tiles = groups.group[groups.count - 1].end_tile;
    int at = 0;
    double sum = 0;
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        while (tile >= groups.group[at].end_tile) at++;
        const int64_t first = at ? groups.group[at - 1].end_tile : 0;
        const Group k = groups.group[at];
        sum += tile_sum(k, (tile - first) * TILE);
    }
    const double total = block_total(sum, shared);
    if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

__global__ void grad_norm_state_kernel(double *state, const double *partial, int n)
{
    __shared__ double shared[SUM_THREADS / 32];
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += SUM_THREADS) sum += partial[i];
    const double total = block_total(sum, shared);
    if (threadIdx.x != 0) return;
    state[STATE_SQUARED_NORM] = total;
    state[STATE_NONFINITE] = isfinite(total) ? 0 : 1;
}

static int launches(const Node *node)
{
    return (node->n_in - 1 + MOST_GROUPS - 1) / MOST_GROUPS;
}

static Groups groups_from(const OpCall *call, int first)
{
    Groups groups = {};
    int64_t tiles = 0;
    for (int i = first; i < call->node->n_in - 1 && groups.count < MOST_GROUPS; i++) {
        Group *k = &groups.group[groups.count++];
        k->g = operand_in(call, i);
        k->n = plan_elements(op_in_shape(call, i));
        k->vectorized = ((uintptr_t)k->g.data & 15U) == 0;
        k->end_tile = tiles += blocks_for(k->n, TILE);
    }
    return groups;
}

Status grad_norm_cuda_run(const OpCall *call)
{
    const cudaStream_t stream = call->backend->stream;
    double *partial = (double *)call->workspace;
    const int n = launches(call->node);
    for (int i = 0; i < n; i++) {
        grad_norm_kernel<<<BLOCKS, THREADS, 0, stream>>>(groups_from(call, i * MOST_GROUPS),
                                                         partial + i * BLOCKS);
        TRY(LAUNCH_STATUS());
    }
    grad_norm_state_kernel<<<1, SUM_THREADS, 0, stream>>>((double *)op_out(call, 0), partial,
                                                          n * BLOCKS);
    return LAUNCH_STATUS();
}
