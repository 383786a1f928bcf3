/* AdamW over all groups of parameters in one launch (ops/adamw.c has the formulas), or a few when
 * there are more groups than a kernel's parameters can list. Bound by memory: 28 bytes a parameter
 * with 16-bit gradients and copies, 26 where the copy is the upper half of the parameter. */
#include "ops/adamw.h"
#include "ops/cuda/launch_cuda.cuh"
#include "plan/step_state.h"

/* The arithmetic of a parameter hides behind its memory accesses. A thread takes one quad, so that
 * neighbours' 16-byte accesses to fp32 meet without gaps, and blocks are short: 4.14 TB/s on an H200,
 * where eight at a time, several quads a thread or streaming hints reach 3.6 to 4.1. */
enum { THREADS = 256, QUAD = 4, TILE = THREADS * QUAD, MOST_GROUPS = 60 };

struct Group {
    void *p; /* float, or in a split group the lower halves */
    float *m, *v;
    void *copy;    /* of the kernel's narrow type, or NULL; in a split group the upper halves */
    const void *g; /* of the narrow type, or float */
    int64_t n, end_tile; /* elements; the first tile of the next group */
    bool wide_g, vectorized, split;
};

struct Groups {
    int count;
    Group group[MOST_GROUPS];
};
static_assert(sizeof(Groups) + sizeof(void *) <= 4096, "the parameters of a kernel");

struct Factors {
    float grad, keep, step, root_bias_inverse;
};

__device__ __forceinline__ Factors read_factors(const double *state)
{
    return {(float)state[STATE_GRAD_FACTOR], (float)(1 - state[STATE_LR] * STEP_STATE_DECAY),
            (float)state[STATE_STEP_SIZE], (float)(1 / state[STATE_ROOT_BIAS])};
}

__device__ __forceinline__ void update(float &p, float &m, float &v, float g, const Factors &f)
{
    const float beta1 = (float)(1 - STEP_STATE_BETA1), beta2 = (float)STEP_STATE_BETA2;
    const float rest2 = (float)(1 - STEP_STATE_BETA2), eps = (float)STEP_STATE_EPSILON;
    const float d = g * f.grad;
    m += beta1 * (d - m);
    v = beta2 * v + rest2 * d * d;
    p = p * f.keep - f.step * m / (sqrtf(v) * f.root_bias_inverse + eps);
}

/* float16_join() and its inverse (base/float16.h) */
__device__ __forceinline__ float join(uint16_t upper, uint16_t lower)
{
    return __uint_as_float(((uint32_t)upper << 16) + (uint32_t)(int32_t)(int16_t)lower);
}

__device__ __forceinline__ void split(float x, uint16_t &upper, uint16_t &lower)
{
    const uint32_t u = isnan(x) ? 0x7fc00000U : __float_as_uint(x);
    upper = (uint16_t)((u + 0x8000U) >> 16);
    lower = (uint16_t)u;
}

template <typename A> __device__ void update_one(const Group &k, int64_t i, const Factors &f)
{
    const float g =
        k.wide_g ? static_cast<const float *>(k.g)[i] : to_float(static_cast<const A *>(k.g)[i]);
    uint16_t *lower = static_cast<uint16_t *>(k.p), *upper = static_cast<uint16_t *>(k.copy);
    float *whole = static_cast<float *>(k.p);
    float p = k.split ? join(upper[i], lower[i]) : whole[i], m = k.m[i], v = k.v[i];
    update(p, m, v, g, f);
    k.m[i] = m;
    k.v[i] = v;
    if (k.split) {
        split(p, upper[i], lower[i]);
        return;
    }
    whole[i] = p;
    if (k.copy) static_cast<A *>(k.copy)[i] = from_float<A>(p);
}

template <typename T> __device__ __forceinline__ Vector<T, QUAD> &quad(T *at)
{
    return *reinterpret_cast<Vector<T, QUAD> *>(at);
}

template <typename A>
__device__ __forceinline__ void read_gradients(float (&g)[QUAD], const Group &k, int64_t i)
{
    if (k.wide_g) {
        load_vector(g, static_cast<const float *>(k.g) + i);
    } else {
        load_vector(g, static_cast<const A *>(k.g) + i);
    }
}

template <typename A>
__device__ __forceinline__ void update_quad(const Group &k, int64_t i, const Factors &f)
{
    float g[QUAD], *whole = static_cast<float *>(k.p) + i;
    Vector<A, QUAD> copy;
    Vector<float, QUAD> p = quad(whole), m = quad(k.m + i), v = quad(k.v + i);
    read_gradients<A>(g, k, i);
#pragma unroll
    for (int e = 0; e < QUAD; e++) {
        update(p.v[e], m.v[e], v.v[e], g[e], f);
        copy.v[e] = from_float<A>(p.v[e]);
    }
    quad(whole) = p;
    quad(k.m + i) = m;
    quad(k.v + i) = v;
    if (k.copy) quad(static_cast<A *>(k.copy) + i) = copy;
}

template <typename A>
__device__ __forceinline__ void update_split_quad(const Group &k, int64_t i, const Factors &f)
{
    float g[QUAD];
    uint16_t *at = static_cast<uint16_t *>(k.p) + i, *above = static_cast<uint16_t *>(k.copy) + i;
    Vector<uint16_t, QUAD> lower = quad(at), upper = quad(above);
    Vector<float, QUAD> m = quad(k.m + i), v = quad(k.v + i);
    read_gradients<A>(g, k, i);
#pragma unroll
    for (int e = 0; e < QUAD; e++) {
        float p = join(upper.v[e], lower.v[e]);
        update(p, m.v[e], v.v[e], g[e], f);
        split(p, upper.v[e], lower.v[e]);
    }
    quad(at) = lower;
    quad(above) = upper;
    quad(k.m + i) = m;
    quad(k.v + i) = v;
}

/* The group of a tile: the first that ends after it. */
__device__ __forceinline__ int group_at(const Groups &groups, int64_t tile)
{
    int low = 0, high = groups.count - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (groups.group[middle].end_tile <= tile) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* One tile a block. A is the type of copies, and of gradients that are not float. */
template <typename A>
__global__ void __launch_bounds__(THREADS) adamw_kernel(const Groups groups, const double *state)
{
    wait_for_dependency();
    if (state[STATE_APPLY] == 0) return;
    const int at = group_at(groups, blockIdx.x);
    const Group k = groups.group[at];
    const int64_t first = at ? groups.group[at - 1].end_tile : 0;
    const int64_t begin = (blockIdx.x - first) * TILE;
    const int64_t end = begin + TILE < k.n ? begin + TILE : k.n;
    const Factors f = read_factors(state);
    const int64_t whole = k.vectorized ? begin + (end - begin) / QUAD * QUAD : begin;
    const int64_t mine = begin + threadIdx.x * QUAD;
    if (mine < whole) {
        if (k.split) {
            update_split_quad<A>(k, mine, f);
        } else {
            update_quad<A>(k, mine, f);
        }
    }
    for (int64_t i = whole + threadIdx.x; i < end; i += THREADS) update_one<A>(k, i, f);
}

static bool aligned(const void *data)
{
    return ((uintptr_t)data & 15U) == 0;
}

static Group group_of(const OpCall *call, int i)
{
    Group k = {};
    k.p = op_out(call, 4 * i);
    k.m = (float *)op_out(call, 4 * i + 1);
    k.v = (float *)op_out(call, 4 * i + 2);
    k.copy = op_out(call, 4 * i + 3);
    k.g = op_in(call, i);
    k.n = plan_elements(op_in_shape(call, i));
    k.split = adamw_split(call->plan, call->node, i);
    k.wide_g = op_in_shape(call, i)->dtype == DT_F32;
    k.vectorized = aligned(k.p) && aligned(k.m) && aligned(k.v) && aligned(k.copy) && aligned(k.g);
    return k;
}

static Status launch(const OpCall *call, DType narrow, const Groups &groups, const double *state)
{
    const int64_t tiles = groups.group[groups.count - 1].end_tile;
    if (tiles > 0x7fffffff) return FAIL(ST_UNSUPPORTED, "adamw: too many parameters in a group");
    DISPATCH_FLOAT(narrow, A,
                   return launch_dependent(call->backend, adamw_kernel<A>, (unsigned)tiles, THREADS,
                                           groups, state));
}

Status adamw_cuda_run(const OpCall *call)
{
    const int count = call->node->n_in - 1;
    const double *state = (const double *)op_in(call, count);
    const DType narrow = gpu_support_adamw_narrow(call->plan, call->node);
    Groups groups;
    for (int i = 0; i < count;) {
        int64_t tiles = 0;
        for (groups.count = 0; i < count && groups.count < MOST_GROUPS; i++) {
            Group *k = &groups.group[groups.count++];
            *k = group_of(call, i);
            k->end_tile = tiles += blocks_for(k->n, TILE);
        }
        TRY(launch(call, narrow, groups, state));
    }
    return ST_OK;
}
