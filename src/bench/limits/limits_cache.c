#include "bench/limits/limits_cache.h"

#include "base/array.h"
#include "base/cache_dir.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "bench/limits/limits_cpu.h"
#include "bench/limits/limits_gpu.h"
#include "bench/limits/limits_json.h"
#include "bench/measure/child.h"
#include "version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double too_busy = 0.1; /* share of the device's time */

Status limits_cache_key(const Placement *placement, LimitsKey *key)
{
    return placement->backend == BACKEND_cpu ? limits_key(placement->threads, key)
                                             : limits_gpu_key(placement->device, key);
}

/* ---- files ---- */

static bool same_key(const LimitsKey *a, const LimitsKey *b)
{
    return strcmp(a->gpu, b->gpu) == 0 && a->multiprocessors == b->multiprocessors &&
           strcmp(a->cpu, b->cpu) == 0 && strcmp(a->blas, b->blas) == 0 &&
           strcmp(a->version, b->version) == 0 && a->cores == b->cores && a->threads == b->threads;
}

/* limits-HASH.json in the cache folder; the key itself is in the file. */
static Status cache_path(const LimitsKey *key, const char *kernels, bool make, Text *path)
{
    TRY(cache_dir_path(path, make));
    CLEANUP(text_free) Text name = {0};
    text_printf(&name, "%s|%s|%s|%s|%d|%d", key->cpu, key->blas, key->version, kernels, key->cores,
                key->threads);
    if (*key->gpu) text_printf(&name, "|%s|%d", key->gpu, key->multiprocessors);
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (const char *c = text_str(&name); *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619U;
    text_printf(path, "/limits-%08x.json", hash);
    return text_status(path);
}

static bool load_from(const char *path, const LimitsKey *key, Limits *out)
{
    enum { LARGEST = 1 << 20 };
    CLEANUP(text_free) Text text = {0};
    Status status = text_read_file(&text, path, LARGEST);
    if (status == ST_OK) status = limits_json_read(out, text_str(&text), text.n);
    if (status != ST_OK) {
        log_warning("stored limits in %s are ignored: %s; 'roofstep limits' measures them again",
                    path, status_message());
        return false;
    }
    out->stored = true;
    return same_key(&out->key, key) && strcmp(out->kernels, ROOFSTEP_KERNELS) == 0;
}

bool limits_cache_load(const LimitsKey *key, Limits *out)
{
    CLEANUP(text_free) Text path = {0};
    return cache_path(key, ROOFSTEP_KERNELS, false, &path) == ST_OK &&
           access(text_str(&path), F_OK) == 0 && load_from(text_str(&path), key, out);
}

static Status store_at(const char *path, const Limits *limits)
{
    json_t *json;
    TRY(limits_json_encode(&json, limits));
    char *text = json_text_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    json_decref(json);
    if (!text) return NO_MEMORY("for the limits as JSON");
    const Status status = text_write_file(path, text, strlen(text));
    free(text);
    return status;
}

Status limits_cache_store(const Limits *limits)
{
    CLEANUP(text_free) Text path = {0};
    const char *kernels = *limits->kernels ? limits->kernels : ROOFSTEP_KERNELS;
    TRY(cache_path(&limits->key, kernels, true, &path));
    return store_at(text_str(&path), limits);
}

/* ---- in a child process, so that this one may still fork: `auto` and a GPU's name open a device ---- */

typedef struct Request {
    const Config *config;
    bool refresh;
} Request;

static const char begins[] = "measuring";
enum { EXIT_UNSUPPORTED = 2 };

static Status find_or_measure(const Request *request, int out, Limits *limits)
{
    Placement place;
    LimitsKey key;
    TRY(placement_find(request->config, &place));
    const bool cpu = place.backend == BACKEND_cpu;
    TRY(limits_cache_key(&place, &key));
    if (!request->refresh && limits_cache_load(&key, limits)) return ST_OK;
    if (!child_write(out, begins, strlen(begins)) || !child_write(out, "\n", 1)) {
        return FAIL(ST_IO, "the parent process has exited");
    }
    return cpu ? limits_cpu_measure(place.threads, limits)
               : limits_gpu_measure(place.device, limits);
}

static bool send(int out, const Limits *limits)
{
    CLEANUP(json_text_free) json_t *json = NULL;
    if (limits_json_encode(&json, limits) != ST_OK) return false;
    CLEANUP(array_free) char *text = json_dumps(json, JSON_COMPACT);
    return text && child_write(out, text, strlen(text)) && child_write(out, "\n", 1);
}

static int answer_request(void *arg, int out)
{
    Limits limits;
    const Status status = find_or_measure(arg, out, &limits);
    if (status == ST_OK && send(out, &limits)) return 0;
    log_line(status_message());
    return status == ST_UNSUPPORTED ? EXIT_UNSUPPORTED : 1;
}

/* ---- in this process ---- */

typedef struct Answer {
    Limits *limits;
    Status status;
    bool measured;
    char printed[256];
} Answer;

static void receive(void *self, const char *line, size_t length)
{
    Answer *answer = self;
    if (strcmp(line, begins) == 0) {
        answer->measured = true;
        log_note("measuring the limits of this device (once, 15 to 60 s)");
        return;
    }
    answer->status = limits_json_read(answer->limits, line, length);
    answer->limits->stored = !answer->measured;
}

/* What was logged there is logged here; anything else is why it failed. */
static void pass_on(void *self, const char *line)
{
    Answer *answer = self;
    if (strncmp(line, "roofstep: ", 10) == 0) {
        log_line(line);
    } else {
        snprintf(answer->printed, sizeof answer->printed, "%s", line);
    }
}

static Status ask_child(const Request *request, Answer *answer)
{
    enum { TIMEOUT = 600 };
    ChildResult result;
    const ChildTask task = {.body = answer_request,
                            .arg = (void *)request,
                            .timeout = TIMEOUT,
                            .self = answer,
                            .message = receive,
                            .printed = pass_on};
    TRY(child_run(&task, &result));
    if (result.end == CHILD_INTERRUPTED) return FAIL(ST_INTERRUPTED, "%s", result.text);
    if (answer->status == ST_OK) return ST_OK;
    if (result.end == CHILD_RETURNED && result.code == EXIT_UNSUPPORTED && *answer->printed)
        return FAIL(ST_UNSUPPORTED, "%s", answer->printed);
    return FAIL(ST_FAILED, "measuring this device's limits failed: %s",
                *answer->printed ? answer->printed : result.text);
}

static void warn_of_others(const Limits *limits, bool keep)
{
    const double busy = limits->steal + limits->others;
    if (!limits_was_busy(limits)) return;
    log_warning(
        "other programs took %.0f %% of the %s time during the measurement: these figures may be "
        "too low%s",
        100 * busy, *limits->key.gpu ? "GPU" : "CPU",
        busy > too_busy && !keep
            ? " and are not stored: run it again on a quiet machine, or with --keep"
            : "; try --refresh on a quiet machine");
}

Status limits_cache_get(const Config *config, bool refresh, bool keep, Limits *out)
{
    const Request request = {config, refresh};
    Answer answer = {.limits = out, .status = ST_FAILED};
    Placement place;
    if (strcmp(config->device, "auto") != 0) TRY(placement_find(config, &place));
    TRY(ask_child(&request, &answer));
    if (!answer.measured) return ST_OK;
    warn_of_others(out, keep);
    if (*out->throttled) {
        log_warning("the GPU was throttled during the measurement: %s", out->throttled);
    }
    const bool quiet = out->steal + out->others <= too_busy;
    if ((quiet || keep) && limits_cache_store(out) != ST_OK) {
        log_warning("cannot store the limits: %s; '%% of limit' will be missing", status_message());
    }
    return ST_OK;
}

bool limits_cache_find(const Config *config, Limits *out)
{
    Placement place;
    LimitsKey key;
    return placement_find(config, &place) == ST_OK && limits_cache_key(&place, &key) == ST_OK &&
           limits_cache_load(&key, out);
}
