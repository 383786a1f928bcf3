#include "ops/cuda/matmul_tuner_cuda.h"

#include "base/disk_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY = 256, HEX = 2 * sizeof(cublasLtMatmulAlgo_t) };

static void shape_key(const ProductShape *s, char key[KEY])
{
    snprintf(
        key, KEY,
        "%" PRId64 "x%" PRId64 "x%" PRId64 " ld %" PRId64 ",%" PRId64 ",%" PRId64 " batch %" PRId64
        " steps %" PRId64 ",%" PRId64 ",%" PRId64 " %s*%s=%s align %u,%u,%u %c%c%s",
        s->m, s->n, s->k, s->lda, s->ldb, s->ldc, s->batch, s->a_step, s->b_step, s->c_step,
        plan_dtype_name(s->a), plan_dtype_name(s->b), plan_dtype_name(s->c), s->a_align, s->b_align,
        s->c_align, s->transpose_a ? 't' : 'n', s->transpose_b ? 't' : 'n', s->tf32 ? " tf32" : "");
}

static void release(void *table)
{
    disk_cache_free(table);
}

/* One file for each device model and library version, so that none ever holds foreign algorithms. */
static DiskCache *tuner_of(Backend *be)
{
    struct cudaDeviceProp properties;
    char file[sizeof properties.name + 64];
    if (be->tuner) return be->tuner;
    const bool named = cudaGetDeviceProperties(&properties, be->device) == cudaSuccess;
    if (named)
        snprintf(file, sizeof file, "cublaslt-%zu-%s", cublasLtGetVersion(), properties.name);
    DiskCache *table = disk_cache_open(named ? file : NULL, "algorithms");
    if (!table || cuda_backend_own(be, table, release) != ST_OK) {
        disk_cache_free(table);
        return NULL;
    }
    be->tuner = table;
    return table;
}

static bool from_hex(const char *hex, cublasLtMatmulAlgo_t *out)
{
    unsigned char bytes[sizeof *out];
    if (!hex || strlen(hex) != HEX) return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned value = 0;
        if (sscanf(hex + 2 * i, "%2x", &value) != 1) return false;
        bytes[i] = (unsigned char)value;
    }
    memcpy(out, bytes, sizeof bytes);
    return true;
}

static void to_hex(const cublasLtMatmulAlgo_t *algorithm, char hex[HEX + 1])
{
    unsigned char bytes[sizeof *algorithm];
    memcpy(bytes, algorithm, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

bool matmul_tuner_cuda_find(Backend *be, const ProductShape *shape, cublasLtMatmulAlgo_t *out)
{
    char key[KEY];
    const DiskCache *table = tuner_of(be);
    if (!table) return false;
    shape_key(shape, key);
    return from_hex(disk_cache_get(table, key), out);
}

Status matmul_tuner_cuda_keep(Backend *be, const ProductShape *shape, bool replace,
                              cublasLtMatmulAlgo_t *algorithm)
{
    char key[KEY], hex[HEX + 1];
    cublasLtMatmulAlgo_t kept;
    DiskCache *table = tuner_of(be);
    if (!table) return NO_MEMORY("for a table of algorithms");
    shape_key(shape, key);
    to_hex(algorithm, hex);
    const char *there = disk_cache_get(table, key);
    TRY(disk_cache_put(table, key, hex, replace || (there && !from_hex(there, &kept))));
    if (from_hex(disk_cache_get(table, key), &kept)) *algorithm = kept;
    return ST_OK;
}
