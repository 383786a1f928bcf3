#include "bench/limits/datasheet.h"

#include <string.h>

typedef struct Promise {
    const char *name;
    double fp32, tf32, bf16, fp16, memory; /* TFLOP/s, GB/s */
} Promise;

static const Promise promises[] = {
#define DATASHEET(name, fp32, tf32, bf16, fp16, memory) {name, fp32, tf32, bf16, fp16, memory},
#include "bench/limits/datasheets.def"
#undef DATASHEET
};

/* The whole name must agree: "H200" is not "H200 NVL", and a slice of an A100 is no A100. */
static const Promise *find(const char *gpu)
{
    static const char *const makers[] = {"NVIDIA ", "Tesla "};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        const size_t n = strlen(makers[i]);
        if (strncmp(gpu, makers[i], n) == 0) gpu += n;
    }
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        if (strcmp(gpu, promises[i].name) == 0) return &promises[i];
    }
    return NULL;
}

double datasheet_find(const char *gpu, LimitId id)
{
    const Promise *promise = find(gpu);
    if (!promise) return 0;
    switch (id) {
    case LIMIT_FP32_LARGEST:
        return promise->fp32 * 1e12;
    case LIMIT_TF32_LARGEST:
        return promise->tf32 * 1e12;
    case LIMIT_BF16_LARGEST:
        return promise->bf16 * 1e12;
    case LIMIT_FP16_LARGEST:
        return promise->fp16 * 1e12;
    case LIMIT_READ:
    case LIMIT_WRITE:
    case LIMIT_COPY:
        return promise->memory * 1e9;
    default:
        return 0;
    }
}
