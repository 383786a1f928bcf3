#include "bench/limits/limits_gpu.h"

static Status none(void)
{
    return FAIL(ST_UNSUPPORTED,
                "this build has no CUDA: build with it (cmake --preset cuda) to measure a GPU");
}

Status limits_gpu_key(int device, LimitsKey *key)
{
    (void)device;
    (void)key;
    return none();
}

Status limits_gpu_measure(int device, Limits *out)
{
    (void)device;
    (void)out;
    return none();
}
