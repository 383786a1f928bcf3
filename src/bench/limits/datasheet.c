#include "bench/limits/datasheet.h"

#include <string.h>

typedef struct Datasheet {
    const char *name;
    double fp32, tf32, bf16, fp16, memory; /* TFLOP/s, GB/s */
} Datasheet;

static const Datasheet datasheets[] = {
#define DATASHEET(name, fp32, tf32, bf16, fp16, memory) {name, fp32, tf32, bf16, fp16, memory},
#include "bench/limits/datasheets.def"
};

/* The whole name must agree: "H200" is not "H200 NVL", and a slice of an A100 is no A100. */
static const Datasheet *find(const char *gpu)
{
    static const char *const makers[] = {"NVIDIA ", "Tesla "};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        const size_t n = strlen(makers[i]);
        if (strncmp(gpu, makers[i], n) == 0) gpu += n;
    }
    for (size_t i = 0; i < sizeof datasheets / sizeof *datasheets; i++) {
        if (strcmp(gpu, datasheets[i].name) == 0) return &datasheets[i];
    }
    return NULL;
}

double datasheet_find(const char *gpu, LimitId id)
{
    const Datasheet *sheet = find(gpu);
    if (!sheet) return 0;
    switch (id) {
    case LIMIT_FP32_LARGEST:
        return sheet->fp32 * 1e12;
    case LIMIT_TF32_LARGEST:
        return sheet->tf32 * 1e12;
    case LIMIT_BF16_LARGEST:
        return sheet->bf16 * 1e12;
    case LIMIT_FP16_LARGEST:
        return sheet->fp16 * 1e12;
    case LIMIT_READ:
    case LIMIT_WRITE:
    case LIMIT_COPY:
        return sheet->memory * 1e9;
    default:
        return 0;
    }
}
