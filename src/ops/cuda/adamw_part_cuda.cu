#include "ops/cuda/elementwise_cuda.cuh"
#include "plan/op_functions.h"
#include "plan/step_state.h"

/* ROOT, BIAS and EPSILON work on d, which is scratch: they run in a skipped step too. */
__host__ __device__ __forceinline__ bool updates_in_place(int fn)
{
    return fn != FN_ROOT && fn != FN_BIAS && fn != FN_EPSILON;
}

__host__ __device__ __forceinline__ int operands(int fn)
{
    if (fn == FN_UPDATE) return 3;
    return fn == FN_MOMENT1 || fn == FN_MOMENT2B ? 2 : 1;
}

/* The one number of the step state that a part needs. */
__device__ __forceinline__ float part_factor(int fn, const double *state)
{
    switch (fn) {
    case FN_DECAY:
        return (float)(1 - state[STATE_LR] * STEP_STATE_DECAY);
    case FN_MOMENT1:
    case FN_MOMENT2B:
        return (float)state[STATE_GRAD_FACTOR];
    case FN_BIAS:
        return (float)state[STATE_ROOT_BIAS];
    case FN_UPDATE:
        return (float)state[STATE_STEP_SIZE];
    default:
        return 0;
    }
}

#define EACH(result)                                                      \
    _Pragma("unroll") for (int k = 0; k < FLAT_WIDTH; k++) x[k] = result; \
    break

/* x = the part's result of x, and of a and b where it has them. */
__device__ __forceinline__ void part_apply(int fn, float factor, float (&x)[FLAT_WIDTH],
                                           const float (&a)[FLAT_WIDTH],
                                           const float (&b)[FLAT_WIDTH])
{
    const float keep1 = (float)(1 - STEP_STATE_BETA1), keep2 = (float)(1 - STEP_STATE_BETA2);
    const float beta2 = (float)STEP_STATE_BETA2, epsilon = (float)STEP_STATE_EPSILON;
    switch (fn) {
    case FN_DECAY:
        EACH(x[k] * factor);
    case FN_MOMENT1:
        EACH(x[k] + (factor * a[k] - x[k]) * keep1);
    case FN_MOMENT2A:
        EACH(x[k] * beta2);
    case FN_MOMENT2B:
        EACH(x[k] + (factor * a[k]) * (factor * a[k]) * keep2);
    case FN_ROOT:
        EACH(sqrtf(x[k]));
    case FN_BIAS:
        EACH(x[k] / factor);
    case FN_EPSILON:
        EACH(x[k] + epsilon);
    case FN_UPDATE:
        EACH(x[k] - factor * a[k] / b[k]);
    default:
        break;
    }
}

/* out is x, or a tensor beside it. Operands a part does not have are not read. */
template <typename X, typename A>
__global__ void __launch_bounds__(FLAT_THREADS)
    adamw_part_kernel(X out, X x, A a, X b, const double *state, int64_t n, int fn)
{
    if (updates_in_place(fn) && state[STATE_APPLY] == 0) return; /* the step is skipped */
    const float factor = part_factor(fn, state);
    const int n_operands = operands(fn);
    float vx[FLAT_VECTORS][FLAT_WIDTH], va[FLAT_VECTORS][FLAT_WIDTH], vb[FLAT_VECTORS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        read_vector(vx[p], x, vector_start(p), n);
        if (n_operands > 1) read_vector(va[p], a, vector_start(p), n);
        if (n_operands > 2) read_vector(vb[p], b, vector_start(p), n);
    }
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
        part_apply(fn, factor, vx[p], va[p], vb[p]);
        write_vector(out, vector_start(p), n, vx[p]);
    }
}

template <typename X, typename A> static void launch(const OpCall *call, X out, X x, A a, X b)
{
    const int64_t n = plan_elements(op_out_shape(call, 0));
    const int fn = call->node->attr.fn;
    const double *state = (const double *)op_in(call, operands(fn));
    adamw_part_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
        out, x, a, b, state, n, fn);
}

/* Operand i; x stands in for those the part does not have. */
static int operand(const OpCall *call, int i)
{
    return i < operands(call->node->attr.fn) ? i : 0;
}

Status adamw_part_cuda_run(const OpCall *call)
{
    const TensorRef out = out_ref(call, 0), x = in_ref(call, 0), a = in_ref(call, operand(call, 1)),
                    b = in_ref(call, operand(call, 2));
    const TensorRef list[] = {out, x, a, b};
    const auto is_f32 = [](const TensorRef &ref) { return ref.shape->dtype == DT_F32; };
    if (takes_vectors(list, 4) && is_f32(out) && is_f32(x) && is_f32(b)) {
        DISPATCH_FLOAT(a.shape->dtype, A,
                       launch(call, vector_operand<float>(out), vector_operand<float>(x),
                              vector_operand<A>(a), vector_operand<float>(b)));
    } else {
        launch(call, scalar_operand(out), scalar_operand(x), scalar_operand(a), scalar_operand(b));
    }
    return LAUNCH_STATUS();
}
