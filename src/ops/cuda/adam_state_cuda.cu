#include "ops/adam_state.h"
#include "ops/cuda/launch_cuda.cuh"

__global__ void adam_state_kernel(double *state)
{
    adam_state_next(state);
}

Status adam_state_cuda_run(const OpCall *call)
{
    adam_state_kernel<<<1, 1, 0, call->backend->stream>>>((double *)op_out(call, 0));
    return LAUNCH_STATUS();
}
