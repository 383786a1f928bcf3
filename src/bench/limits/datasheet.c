#include "bench/limits/datasheet.h"

#include "base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const Datasheet datasheet_table[] = {
#define DATASHEET(name, gpu, capability, sms, memory, cache, watts, fp32, tf32, bf16, fp16, fp8, \
                  bandwidth, source)                                                             \
    {name,                                                                                       \
     gpu,                                                                                        \
     capability,                                                                                 \
     sms,                                                                                        \
     memory,                                                                                     \
     cache,                                                                                      \
     watts,                                                                                      \
     {[LIMIT_FP32_LARGEST] = fp32 * 1e12,                                                        \
      [LIMIT_TF32_LARGEST] = tf32 * 1e12,                                                        \
      [LIMIT_BF16_LARGEST] = bf16 * 1e12,                                                        \
      [LIMIT_FP16_LARGEST] = fp16 * 1e12,                                                        \
      [LIMIT_FP8_LARGEST] = fp8 * 1e12,                                                          \
      [LIMIT_READ] = bandwidth * 1e9,                                                            \
      [LIMIT_WRITE] = bandwidth * 1e9,                                                           \
      [LIMIT_COPY] = bandwidth * 1e9},                                                           \
     source},
#include "bench/limits/datasheets.def"
    {0},
};

enum { COUNT = sizeof datasheet_table / sizeof *datasheet_table - 1 };

static const char *without_maker(const char *gpu)
{
    static const char *const makers[] = {"NVIDIA ", "Tesla "};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        const size_t n = strlen(makers[i]);
        if (strncmp(gpu, makers[i], n) == 0) gpu += n;
    }
    return gpu;
}

/* The whole name must agree: "H200" is not "H200 NVL", and a slice of an A100 is no A100. */
static const Datasheet *sheet_of(const char *gpu)
{
    gpu = without_maker(gpu);
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(gpu, datasheet_table[i].gpu) == 0) return &datasheet_table[i];
    }
    return NULL;
}

double datasheet_find(const char *gpu, LimitId id)
{
    const Datasheet *sheet = sheet_of(gpu);
    return sheet ? sheet->rate[id] : 0;
}

double datasheet_watts(const char *gpu)
{
    const Datasheet *sheet = sheet_of(gpu);
    return sheet ? sheet->watts : 0;
}

/* ---- by the name that people type ---- */

enum { NAME = 64 };

/* "NVIDIA GeForce RTX 4090" and "rtx-4090" are "rtx4090". */
static void normalise(const char *name, char out[NAME])
{
    static const char *const left_out[] = {"nvidia", "tesla", "geforce"};
    size_t n = 0;
    for (; *name && n + 1 < NAME; name++) {
        if (isalnum((unsigned char)*name)) out[n++] = (char)tolower((unsigned char)*name);
    }
    out[n] = '\0';
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        const size_t length = strlen(left_out[i]);
        if (strncmp(out, left_out[i], length) == 0) memmove(out, out + length, n - length + 1);
        n = strlen(out);
    }
}

static bool is_called(const Datasheet *sheet, const char *wanted)
{
    char name[NAME], gpu[NAME];
    normalise(sheet->name, name);
    normalise(sheet->gpu, gpu);
    return strcmp(wanted, name) == 0 || strcmp(wanted, gpu) == 0;
}

/* "a100" is several; "rtx4091" is close to one. */
static Status not_found(const char *asked, const char *wanted)
{
    enum { MOST_SLIPS = 2 }; /* three digits of another number are another GPU */
    const char *names[COUNT];
    char begins[160] = "";
    for (int i = 0; i < COUNT; i++) {
        char name[NAME];
        names[i] = datasheet_table[i].name;
        normalise(names[i], name);
        const size_t n = strlen(begins);
        if (*wanted && strncmp(name, wanted, strlen(wanted)) == 0)
            snprintf(begins + n, sizeof begins - n, "%s%s", n ? ", " : "", names[i]);
    }
    if (*begins) return FAIL(ST_USAGE, "--gpu %s: which one? %s", asked, begins);
    const char *close = suggest_word(wanted, names, COUNT);
    if (close && suggest_distance(wanted, close) > MOST_SLIPS) close = NULL;
    return FAIL(ST_USAGE, "--gpu %s: there is no data sheet of it%s%s%s; --gpu list shows all",
                asked, close ? "; did you mean " : "", close ? close : "", close ? "?" : "");
}

Status datasheet_named(const char *name, const Datasheet **sheet)
{
    char wanted[NAME];
    normalise(name, wanted);
    for (int i = 0; i < COUNT; i++) {
        *sheet = &datasheet_table[i];
        if (is_called(*sheet, wanted)) return ST_OK;
    }
    return not_found(name, wanted);
}

void datasheet_limits(const Datasheet *sheet, Limits *limits)
{
    const bool tesla = sheet->capability < 80;
    *limits = (Limits){.memory_bytes = sheet->memory_mib << 20,
                       .cache_bytes = sheet->cache_mib << 20,
                       .capability = sheet->capability,
                       .datasheet = sheet->source};
    limits->key.multiprocessors = sheet->multiprocessors;
    snprintf(limits->key.gpu, sizeof limits->key.gpu, "%s %s", tesla ? "Tesla" : "NVIDIA",
             sheet->gpu);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const double rate = sheet->rate[i];
        if (rate > 0) limits->rate[i][LIMITS_ALL] = (LimitsRate){rate, rate, rate, 1};
    }
}
