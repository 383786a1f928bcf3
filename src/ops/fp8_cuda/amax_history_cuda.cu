/* A few numbers for each tensor: one block (ops/fp8/amax_history.c). */
#include "ops/cuda/launch_cuda.cuh"
#include "ops/fp8/amax_history.h"
#include "plan/step_state.h"

enum { THREADS = 256 };

struct HistoryArgs {
    double *state;
    float *amax, *history, *recent; /* history, recent: both or none */
    int64_t n;
    bool others_look; /* at gradients, and clear what they find */
};

/* amax_history_next(). The steps are read before the first is moved. */
static __device__ float enter(float *steps, float amax)
{
    float was[AMAX_HISTORY_STEPS];
#pragma unroll
    for (int i = 0; i < AMAX_HISTORY_STEPS; i++) was[i] = steps[i];
    float largest = isfinite(amax) ? fmaxf(0, amax) : fmaxf(0, was[AMAX_HISTORY_STEPS - 1]);
#pragma unroll
    for (int i = 0; i < AMAX_HISTORY_STEPS - 1; i++) largest = fmaxf(largest, was[i]);
    if (!isfinite(amax)) return largest;
    steps[0] = amax;
#pragma unroll
    for (int i = 1; i < AMAX_HISTORY_STEPS; i++) steps[i] = was[i - 1];
    return largest;
}

__global__ void __launch_bounds__(THREADS) amax_history_kernel(const HistoryArgs f)
{
    wait_for_dependency();
    int infinite = 0;
    for (int64_t i = threadIdx.x; i < f.n; i += THREADS) {
        const float amax = f.amax[i];
        infinite |= !isfinite(amax);
        if (f.history) f.recent[i] = enter(f.history + i * AMAX_HISTORY_STEPS, amax);
        f.amax[i] = 0;
    }
    const bool finite = __syncthreads_or(infinite) == 0;
    if (threadIdx.x == 0 && f.state && !(f.others_look && finite))
        f.state[STATE_NONFINITE] = finite ? 0 : 1;
}

Status amax_history_cuda_run(const OpCall *call)
{
    HistoryArgs f = {};
    f.state = (double *)op_out(call, AMAX_HISTORY_STATE);
    f.amax = (float *)op_out(call, AMAX_HISTORY_AMAX);
    f.history = (float *)op_out(call, AMAX_HISTORY_STEPS_BACK);
    f.recent = (float *)op_out(call, AMAX_HISTORY_RECENT);
    f.n = plan_elements(op_out_shape(call, AMAX_HISTORY_AMAX));
    f.others_look = call->node->attr.accumulate;
    return launch_dependent(call->backend, amax_history_kernel, dim3(1), dim3(THREADS), f);
}
