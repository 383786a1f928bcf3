/* On some cores square roots and divisions bound this op before memory does. So the loop is plain
 * for the compiler to vectorize, and unrolled (CMakeLists.txt): the square roots of one vector
 * overlap with the arithmetic of others. Threads take blocks dynamically. */
#include "base/i64.h"
#include "ops/adamw.h"
#include "ops/cpu/impls_cpu.h"
#include "ops/element.h"
#include "ops/simd_cpu/rows_cpu.h"
#include "plan/step_state.h"

enum { BLOCK = 128 * ROWS_CHUNK }; /* shorter ones end before hardware prefetching pays */

typedef struct Factors {
    float grad, keep, step, root_bias_inverse;
} Factors;

static inline float grad_f32(const void *g, int64_t i)
{
    return ((const float *)g)[i];
}

static inline float grad_bf16(const void *g, int64_t i)
{
    return float16_from_bf16(((const uint16_t *)g)[i]);
}

/* static void NAME: with gradients as `grad` reads them. */
#define UPDATE(name, grad_at)                                                                    \
    CPU_CLONES static void name(float *restrict p, float *restrict m, float *restrict v,         \
                                const void *restrict g, int64_t n, Factors f)                    \
    {                                                                                            \
        const float beta1 = (float)(1 - STEP_STATE_BETA1), beta2 = (float)STEP_STATE_BETA2;      \
        const float rest2 = (float)(1 - STEP_STATE_BETA2), eps = (float)STEP_STATE_EPSILON;      \
        for (int64_t i = 0; i < n; i++) {                                                        \
            const float d = grad_at(g, i) * f.grad;                                              \
            const float m1 = m[i] + beta1 * (d - m[i]);                                          \
            const float v1 = beta2 * v[i] + rest2 * d * d;                                       \
            m[i] = m1;                                                                           \
            v[i] = v1;                                                                           \
            p[i] =                                                                               \
                p[i] * f.keep - f.step * m1 / (__builtin_sqrtf(v1) * f.root_bias_inverse + eps); \
        }                                                                                        \
    }

UPDATE(update_f32, grad_f32)
UPDATE(update_bf16, grad_bf16)

static void update(float *p, float *m, float *v, const void *g, DType dtype, int64_t n, Factors f)
{
    float buffer[ROWS_CHUNK];
    if (dtype == DT_BF16) {
        update_bf16(p, m, v, g, n, f);
    } else {
        update_f32(p, m, v, rows_cpu_read(g, dtype, n, buffer), n, f);
    }
}

CPU_CLONES static void join(float *restrict p, const uint16_t *restrict upper,
                            const uint16_t *restrict lower, int64_t n)
{
    for (int64_t i = 0; i < n; i++) p[i] = float16_join(upper[i], lower[i]);
}

CPU_CLONES static void split(uint16_t *restrict upper, uint16_t *restrict lower,
                             const float *restrict p, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        upper[i] = float16_upper(p[i]);
        lower[i] = float16_lower(p[i]);
    }
}

/* Outputs of a group: parameters, both moments, and a 16-bit copy or the upper halves of split parameters. */
static void update_block(const OpCall *call, int group, int64_t begin, int64_t end, Factors f)
{
    const bool is_split = adamw_split(call->plan, call->node, group);
    void *parameters = op_out(call, 4 * group);
    float *m = op_out(call, 4 * group + 1), *v = op_out(call, 4 * group + 2);
    const Operand copy = element_out(call, 4 * group + 3), g = element_in(call, group);
    float joined[ROWS_CHUNK];
    for (int64_t i = begin; i < end; i += ROWS_CHUNK) {
        const int64_t n = i64_min(ROWS_CHUNK, end - i);
        const void *from = rows_cpu_at(g.data, g.dtype, i);
        float *p = is_split ? joined : (float *)parameters + i;
        uint16_t *upper = is_split ? (uint16_t *)copy.data + i : NULL;
        uint16_t *lower = is_split ? (uint16_t *)parameters + i : NULL;
        if (is_split) join(p, upper, lower, n);
        update(p, m + i, v + i, from, g.dtype, n, f);
        if (is_split) {
            split(upper, lower, p, n);
        } else if (copy.data) {
            rows_cpu_store(rows_cpu_at(copy.data, copy.dtype, i), p, copy.dtype, n);
        }
    }
}

typedef struct Update {
    const OpCall *call;
    Factors f;
    int64_t *next; /* block of all groups that no thread has taken */
} Update;

/* Blocks of one group after the other, taken by threads as they become free. */
static void update_groups(const void *data, int thread, int threads)
{
    const Update *u = data;
    const int groups = adamw_groups(u->call->node);
    int64_t block = __atomic_fetch_add(u->next, 1, __ATOMIC_RELAXED), before = 0;
    (void)thread, (void)threads;
    for (int group = 0; group < groups; group++) {
        const int64_t n = plan_elements(op_in_shape(u->call, group));
        for (int64_t i; (i = (block - before) * BLOCK) < n;
             block = __atomic_fetch_add(u->next, 1, __ATOMIC_RELAXED))
            update_block(u->call, group, i, i64_min(i + BLOCK, n), u->f);
        before += i64_ceil_div(n, BLOCK);
    }
}

static Status run(const OpCall *call)
{
    const int groups = adamw_groups(call->node);
    const double *state = op_in(call, groups);
    if (state[STATE_APPLY] == 0) return ST_OK;
    const Factors f = {.grad = (float)state[STATE_GRAD_FACTOR],
                       .keep = (float)(1 - state[STATE_LR] * STEP_STATE_DECAY),
                       .step = (float)state[STATE_STEP_SIZE],
                       .root_bias_inverse = (float)(1 / state[STATE_ROOT_BIAS])};
    int64_t next = 0;
    thread_team_run(call->threads, update_groups, &(Update){call, f, &next});
    return ST_OK;
}

const OpImpl adamw_cpu[] = {{"adamw_cpu", rows_cpu_declines_f64, NULL, run}, {0}};
