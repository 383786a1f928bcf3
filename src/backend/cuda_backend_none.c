/* This build has no CUDA: a step can be planned for a GPU, and runs on none. */
#include "backend/backend.h"

extern const BackendApi cuda_backend;

static int capability(int device)
{
    (void)device;
    return 0;
}

static Status cannot_open(Backend **out, int device)
{
    (void)out;
    return FAIL(ST_UNSUPPORTED,
                "device cuda:%d: this build has no CUDA; use --device cpu, or build with CUDA "
                "(roofstep doctor says what is missing)",
                device);
}

const BackendApi cuda_backend = {
    .name = "cuda", .absent = true, .capability = capability, .open = cannot_open};
