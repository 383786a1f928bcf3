#include "ops/adam_state.h"
#include "ops/cuda/impls_cuda.h"
#include "ops/cuda/kernel_cuda.cuh"

__global__ void adam_state_kernel(double *state)
{
    adam_state_next(state);
}

static Status run(const OpCall *call)
{
    adam_state_kernel<<<1, 1, 0, call->backend->stream>>>((double *)op_out(call, 0));
    TRY_LAUNCH();
    return ST_OK;
}

const OpImpl adam_state_cuda[] = {{"adam_state_cuda", nullptr, nullptr, run}, {}};
