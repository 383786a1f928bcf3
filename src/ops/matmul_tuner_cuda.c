#include "ops/matmul_tuner_cuda.h"

#include "base/cache_dir.h"
#include "base/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { KEY = 256, HEX = 2 * sizeof(cublasLtMatmulAlgo_t), FILE_LIMIT = 16 << 20 };

typedef struct MatmulTuner {
    json_t *algorithms; /* key -> the algorithm's bytes in hexadecimal */
    char path[512];     /* "" when there is no place for a cache */
} MatmulTuner;

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

/* One file for each device model and library version, so that none ever holds foreign algorithms. */
static void place(MatmulTuner *tuner, int device)
{
    struct cudaDeviceProp properties;
    Text path = {0};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return;
    if (cache_dir_path(&path, true) == ST_OK) {
        text_printf(&path, "/cublaslt-%zu-%s.json", cublasLtGetVersion(), properties.name);
        const size_t folder =
            path.n ? (size_t)(strrchr(text_str(&path), '/') - text_str(&path)) : 0;
        for (size_t i = folder + 1; i < path.n; i++) {
            if (path.data[i] == ' ' || path.data[i] == '/') path.data[i] = '-';
        }
        if (text_status(&path) == ST_OK && path.n < sizeof tuner->path) {
            memcpy(tuner->path, text_str(&path), path.n + 1);
        }
    }
    text_free(&path);
}

/* Adds what the file holds and this process does not know yet. */
static void read_file(MatmulTuner *tuner)
{
    Text text = {0};
    json_error_t error;
    if (!tuner->path[0] || text_read_file(&text, tuner->path, FILE_LIMIT) != ST_OK) {
        text_free(&text);
        return;
    }
    json_t *read = json_loads(text_str(&text), 0, &error);
    text_free(&text);
    if (json_is_object(read)) {
        json_object_update_missing(tuner->algorithms, read);
    } else {
        log_warning("%s is not a file of algorithms and is ignored; they are measured again",
                    tuner->path);
    }
    json_decref(read);
}

static void write_file(const MatmulTuner *tuner)
{
    char *text = json_dumps(tuner->algorithms, JSON_INDENT(1) | JSON_SORT_KEYS);
    if (text && text_write_file(tuner->path, text, strlen(text)) != ST_OK) {
        log_warning("the algorithms found are not kept: %s", status_message());
    }
    free(text);
}

/* Processes that measure at the same time must not undo each other's entries. Held until the file
 * descriptor is closed; -1 where there is no place for a lock. */
static int lock_file(const MatmulTuner *tuner)
{
    char path[sizeof tuner->path + 8];
    snprintf(path, sizeof path, "%s.lock", tuner->path);
    const int lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (lock >= 0) (void)flock(lock, LOCK_EX);
    return lock;
}

static void release(void *object)
{
    MatmulTuner *tuner = object;
    json_decref(tuner->algorithms);
    free(tuner);
}

static MatmulTuner *tuner_of(Backend *be)
{
    if (be->tuner) return be->tuner;
    MatmulTuner *tuner = calloc(1, sizeof *tuner);
    if (!tuner) return NULL;
    tuner->algorithms = json_object();
    if (!tuner->algorithms || cuda_backend_own(be, tuner, release) != ST_OK) {
        json_decref(tuner->algorithms);
        free(tuner);
        return NULL;
    }
    place(tuner, be->device);
    read_file(tuner);
    be->tuner = tuner;
    return tuner;
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

bool matmul_tuner_cuda_find(Backend *be, const ProductShape *shape, cublasLtMatmulAlgo_t *out)
{
    char key[KEY];
    const MatmulTuner *tuner = tuner_of(be);
    if (!tuner) return false;
    shape_key(shape, key);
    return from_hex(json_string_value(json_object_get(tuner->algorithms, key)), out);
}

static Status put_algorithm(MatmulTuner *tuner, const char *key,
                            const cublasLtMatmulAlgo_t *algorithm)
{
    char hex[HEX + 1];
    unsigned char bytes[sizeof *algorithm];
    memcpy(bytes, algorithm, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    if (json_object_set_new(tuner->algorithms, key, json_string(hex))) {
        return FAIL(ST_NO_MEMORY, "no memory for a table of algorithms");
    }
    return ST_OK;
}

/* At once, so that a run that is killed has not measured in vain. */
Status matmul_tuner_cuda_keep(Backend *be, const ProductShape *shape, bool replace,
                              cublasLtMatmulAlgo_t *algorithm)
{
    char key[KEY];
    MatmulTuner *tuner = tuner_of(be);
    if (!tuner) return FAIL(ST_NO_MEMORY, "no memory for a table of algorithms");
    shape_key(shape, key);
    if (!tuner->path[0]) return put_algorithm(tuner, key, algorithm);
    const int lock = lock_file(tuner);
    read_file(tuner);
    Status status = ST_OK;
    if (replace || !matmul_tuner_cuda_find(be, shape, algorithm)) {
        status = put_algorithm(tuner, key, algorithm);
        if (status == ST_OK) write_file(tuner);
    }
    if (lock >= 0) close(lock);
    return status;
}
