#include "bench/limits/datasheet.h"

#include <string.h>

typedef struct Datasheet {
    const char *name;
    double rate[LIMIT_COUNT]; /* 0: not in it */
} Datasheet;

static const Datasheet datasheets[] = {
#define DATASHEET(name, fp32, tf32, bf16, fp16, fp8, memory) \
    {name,                                                   \
     {[LIMIT_FP32_LARGEST] = fp32 * 1e12,                    \
      [LIMIT_TF32_LARGEST] = tf32 * 1e12,                    \
      [LIMIT_BF16_LARGEST] = bf16 * 1e12,                    \
      [LIMIT_FP16_LARGEST] = fp16 * 1e12,                    \
      [LIMIT_FP8_LARGEST] = fp8 * 1e12,                      \
      [LIMIT_READ] = memory * 1e9,                           \
      [LIMIT_WRITE] = memory * 1e9,                          \
      [LIMIT_COPY] = memory * 1e9}},
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
    return sheet ? sheet->rate[id] : 0;
}
