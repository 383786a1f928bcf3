#include "bench/limits.h"

#include "backend/cpu_info.h"
#include "base/cache_dir.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "bench/child.h"
#include "bench/limits_json.h"
#include "bench/limits_memory.h"
#include "bench/limits_product.h"
#include "ops/blas_cpu.h"
#include "version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

const struct LimitsName limits_names[LIMIT_COUNT] = {
#define LIMIT(id, name, label, kind) {name, label, LIMITS_##kind},
#include "bench/limits.def"
#undef LIMIT
};

Status limits_key(int threads, LimitsKey *key)
{
    CpuInfo cpu;
    TRY(cpu_info_read(&cpu, ""));
    *key = (LimitsKey){.cores = cpu.usable_cores};
    key->threads = threads > 0 ? threads : cpu.usable_cores;
    snprintf(key->cpu, sizeof key->cpu, "%s", cpu.name);
    snprintf(key->blas, sizeof key->blas, "%s", blas_cpu_name());
    snprintf(key->version, sizeof key->version, "%s", ROOFSTEP_VERSION);
    return ST_OK;
}

/* ---- measuring ---- */

typedef struct Meanwhile {
    CpuTicks ticks;
    double own; /* processor seconds of this process */
} Meanwhile;

static double own_seconds(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static Meanwhile meanwhile(void)
{
    Meanwhile now = {.own = own_seconds()};
    if (cpu_info_ticks(&now.ticks, "") != ST_OK) now.ticks = (CpuTicks){0};
    return now;
}

/* What the processors did since `then` that was neither idleness nor this process. */
static void note_others(Limits *out, const Meanwhile *then)
{
    const Meanwhile now = meanwhile();
    const double total = (double)(now.ticks.total - then->ticks.total);
    if (total <= 0) return;
    const double idle = (double)(now.ticks.idle - then->ticks.idle);
    const double steal = (double)(now.ticks.steal - then->ticks.steal);
    const double own = (now.own - then->own) * (double)sysconf(_SC_CLK_TCK);
    const double others = total - idle - steal - own;
    out->steal = steal / total;
    out->others = others > 0 ? others / total : 0;
}

static Status measure_products(int threads, LimitsScope scope, Limits *out)
{
    static const struct {
        Precision precision;
        LimitId largest; /* the model's three passes follow it in limits.def */
    } rows[] = {{PRECISION_FP32, LIMIT_FP32_LARGEST},
                {PRECISION_BF16, LIMIT_BF16_LARGEST},
                {PRECISION_FP16, LIMIT_FP16_LARGEST}};
    const LimitsBudget budget = {.square = 0.06, .model = 0.06, .repeats = 5};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        LimitsRate passes[3];
        TRY(limits_product_square(rows[i].precision, threads, &budget,
                                  &out->rate[rows[i].largest][scope]));
        TRY(limits_product_model("small", rows[i].precision, threads, &budget, passes));
        for (int p = 0; p < 3; p++) out->rate[(int)rows[i].largest + 1 + p][scope] = passes[p];
    }
    return ST_OK;
}

static Status measure_scope(int threads, LimitsScope scope, Limits *out)
{
    enum { REPEATS = 15 };
    size_t bytes = 0;
    TRY(limits_memory_bytes(&bytes));
    TRY(limits_memory_measure(threads, bytes, REPEATS, scope, out));
    return measure_products(threads, scope, out);
}

Status limits_measure(int threads, Limits *out)
{
    *out = (Limits){0};
    TRY(limits_key(threads, &out->key));
    const Meanwhile before = meanwhile();
    const double start = clock_seconds();
    TRY(measure_scope(out->key.threads, LIMITS_ALL, out));
    if (out->key.threads > 1) {
        TRY(measure_scope(1, LIMITS_ONE, out));
    } else {
        for (int i = 0; i < LIMIT_COUNT; i++) out->rate[i][LIMITS_ONE] = out->rate[i][LIMITS_ALL];
    }
    out->seconds = clock_seconds() - start;
    note_others(out, &before);
    snprintf(out->time_utc, sizeof out->time_utc, "%s", clock_utc().s);
    return ST_OK;
}

/* ---- storing ---- */

#define TOO_BUSY 0.1 /* share of all processor time */

static bool same_key(const LimitsKey *a, const LimitsKey *b)
{
    return strcmp(a->cpu, b->cpu) == 0 && strcmp(a->blas, b->blas) == 0 &&
           strcmp(a->version, b->version) == 0 && a->cores == b->cores && a->threads == b->threads;
}

/* limits-HASH.json in the cache folder; the key itself is in the file. */
static Status cache_path(const LimitsKey *key, bool make, Text *path)
{
    TRY(cache_dir_path(path, make));
    Text name = {0};
    text_printf(&name, "%s|%s|%s|%d|%d", key->cpu, key->blas, key->version, key->cores,
                key->threads);
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (const char *c = text_str(&name); *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619U;
    text_free(&name);
    text_printf(path, "/limits-%08x.json", hash);
    return text_status(path);
}

static Status decode_text(const char *text, size_t n, Limits *out)
{
    json_error_t error;
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (!json) return FAIL(ST_IO, "%s", error.text);
    const Status status = limits_json_decode(out, json);
    json_decref(json);
    return status;
}

static bool load_from(const char *path, const LimitsKey *key, Limits *out)
{
    enum { LARGEST = 1 << 20 };
    Text text = {0};
    Status status = text_read_file(&text, path, LARGEST);
    if (status == ST_OK) status = decode_text(text_str(&text), text.n, out);
    text_free(&text);
    if (status != ST_OK) {
        log_warning("stored limits in %s are ignored: %s", path, status_message());
        return false;
    }
    out->stored = true;
    return same_key(&out->key, key);
}

bool limits_load(const LimitsKey *key, Limits *out)
{
    Text path = {0};
    const bool found = cache_path(key, false, &path) == ST_OK &&
                       access(text_str(&path), F_OK) == 0 && load_from(text_str(&path), key, out);
    text_free(&path);
    return found;
}

static Status store_at(const char *path, const Limits *limits)
{
    json_t *json;
    TRY(limits_json_encode(&json, limits));
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    json_decref(json);
    if (!text) return FAIL(ST_NO_MEMORY, "no memory for the limits as JSON");
    const Status status = text_write_file(path, text, strlen(text));
    free(text);
    return status;
}

Status limits_store(const Limits *limits)
{
    Text path = {0};
    Status status = cache_path(&limits->key, true, &path);
    if (status == ST_OK) status = store_at(text_str(&path), limits);
    text_free(&path);
    return status;
}

/* ---- in a child process, so that this one may still fork ---- */

static int measure_and_send(void *arg, int out)
{
    Limits limits;
    json_t *json = NULL;
    char *text = NULL;
    const int *threads = arg;
    if (limits_measure(*threads, &limits) == ST_OK && limits_json_encode(&json, &limits) == ST_OK) {
        text = json_dumps(json, JSON_COMPACT);
    }
    const bool sent = text && child_write(out, text, strlen(text)) && child_write(out, "\n", 1);
    if (!sent) fprintf(stderr, "%s\n", status_message());
    free(text);
    json_decref(json);
    return sent ? 0 : 1;
}

typedef struct Answer {
    Limits *limits;
    Status status;
    char printed[256];
} Answer;

static void receive(void *self, const char *line, size_t length)
{
    Answer *answer = self;
    answer->status = decode_text(line, length, answer->limits);
}

static void remember(void *self, const char *line)
{
    Answer *answer = self;
    snprintf(answer->printed, sizeof answer->printed, "%s", line);
}

static Status measure_in_child(int threads, Limits *out)
{
    enum { TIMEOUT = 300 };
    ChildResult result;
    Answer answer = {.limits = out, .status = ST_FAILED};
    const ChildTask task = {.body = measure_and_send,
                            .arg = &threads,
                            .timeout = TIMEOUT,
                            .self = &answer,
                            .message = receive,
                            .printed = remember};
    TRY(child_run(&task, &result));
    if (result.end == CHILD_INTERRUPTED) return FAIL(ST_INTERRUPTED, "%s", result.text);
    if (answer.status == ST_OK) return ST_OK;
    return FAIL(ST_FAILED, "measuring this machine's limits failed: %s",
                *answer.printed ? answer.printed : result.text);
}

Status limits_get(int threads, bool refresh, Limits *out)
{
    LimitsKey key;
    TRY(limits_key(threads, &key));
    if (!refresh && limits_load(&key, out)) return ST_OK;
    log_note("measuring this machine's limits (once, about 15 s)");
    TRY(measure_in_child(key.threads, out));
    const double busy = out->steal + out->others;
    if (limits_was_busy(out)) {
        log_warning(
            "other programs took %.0f %% of the processors meanwhile: these figures may be too "
            "low%s",
            100 * busy, busy > TOO_BUSY ? " and are not kept" : "; try --refresh when it is quiet");
    }
    if (busy <= TOO_BUSY && limits_store(out) != ST_OK) {
        log_warning("limits are not stored: %s", status_message());
    }
    return ST_OK;
}

double limits_peak_flops(const Limits *limits, Precision precision)
{
    static const LimitId first[PRECISION_COUNT] = {
        [PRECISION_FP32] = LIMIT_FP32_LARGEST,
        [PRECISION_TF32] = LIMIT_COUNT,
        [PRECISION_BF16] = LIMIT_BF16_LARGEST,
        [PRECISION_FP16] = LIMIT_FP16_LARGEST,
    };
    double peak = 0;
    const int begin = (int)first[precision];
    for (int i = begin; i < LIMIT_COUNT && i < begin + 4; i++) {
        const double here = limits->rate[i][LIMITS_ALL].max;
        peak = here > peak ? here : peak;
    }
    return peak;
}

bool limits_was_busy(const Limits *limits)
{
    return limits->steal > 0.01 || limits->others > 0.03;
}
