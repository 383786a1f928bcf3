#include "bench/limits/limits_cache.h"

#include "base/array.h"
#include "base/cache_dir.h"
#include "base/json_text.h"
#include "base/log.h"
#include "bench/limits/limits_cpu.h"
#include "bench/limits/limits_gpu.h"
#include "bench/limits/limits_json.h"
#include "bench/measure/child.h"
#include "version.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double too_busy = 0.1; /* share of the device's time */

/* Of a GPU it opens it in this process: no fork after it. */
static Status find_key(const Placement *placement, LimitsKey *key)
{
    return placement->backend == BACKEND_cpu ? limits_key(placement->threads, key)
                                             : limits_gpu_key(placement->device, key);
}

/* ---- files ---- */

/* Everything the figures depend on. */
typedef struct KeyText {
    char s[512];
} KeyText;

static KeyText key_text(const LimitsKey *key, const char *kernels)
{
    KeyText text;
    const int n = snprintf(text.s, sizeof text.s, "%s|%s|%s|%s|%d|%d", key->cpu, key->blas,
                           key->version, kernels, key->cores, key->threads);
    if (*key->gpu)
        snprintf(text.s + n, sizeof text.s - (size_t)n, "|%s|%d", key->gpu, key->multiprocessors);
    if (*key->mpi) snprintf(text.s + n, sizeof text.s - (size_t)n, "|%s", key->mpi);
    return text;
}

/* limits-HASH.json in the cache folder, of links links-HASH.json; the key itself is in the file. */
static Status cache_path(const LimitsKey *of, KeyText key, bool make, Text *path)
{
    TRY(cache_dir_path(path, make));
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (const char *c = key.s; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619U;
    text_printf(path, "/%s-%08x.json", *of->mpi ? "links" : "limits", hash);
    return text_status(path);
}

static Status read_limits(const char *path, Limits *out)
{
    enum { LARGEST = 1 << 20 };
    CLEANUP(text_free) Text text = {0};
    TRY(text_read_file(&text, path, LARGEST));
    return limits_json_read(out, text_str(&text), text.n);
}

bool limits_cache_load(const LimitsKey *key, Limits *out)
{
    CLEANUP(text_free) Text path = {0};
    const KeyText wanted = key_text(key, ROOFSTEP_KERNELS);
    if (cache_path(key, wanted, false, &path) != ST_OK || access(text_str(&path), F_OK) != 0)
        return false;
    if (read_limits(text_str(&path), out) != ST_OK) {
        log_warning("stored limits in %s are ignored: %s; 'roofstep limits' measures them again",
                    text_str(&path), status_message());
        return false;
    }
    out->stored = true;
    return strcmp(key_text(&out->key, out->kernels).s, wanted.s) == 0;
}

bool limits_cache_of(const Placement *placement, Limits *out)
{
    LimitsKey key;
    return find_key(placement, &key) == ST_OK && limits_cache_load(&key, out);
}

Status limits_cache_store(const Limits *limits)
{
    CLEANUP(text_free) Text path = {0};
    CLEANUP(text_free) Text text = {0};
    CLEANUP(json_text_free) json_t *json = NULL;
    const char *kernels = *limits->kernels ? limits->kernels : ROOFSTEP_KERNELS;
    TRY(cache_path(&limits->key, key_text(&limits->key, kernels), true, &path));
    TRY(limits_json_encode(&json, limits));
    json_text_put(&text, json, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    TRY(text_status(&text));
    return text_write_file(text_str(&path), text_str(&text), text.n);
}

/* ---- in a child process, so that this one may still fork: `auto` and a GPU's name open a device ---- */

typedef struct Request {
    const Config *config;
    bool refresh;
} Request;

static const char begins[] = "measuring";
enum { EXIT_UNSUPPORTED = 2 };

static bool send_line(int out, const char *line)
{
    return child_write(out, line, strlen(line)) && child_write(out, "\n", 1);
}

static Status find_or_measure(const Request *request, int out, Limits *limits)
{
    Placement place;
    TRY(placement_find(request->config, &place));
    if (!request->refresh && limits_cache_of(&place, limits)) return ST_OK;
    if (!send_line(out, begins)) return FAIL(ST_IO, "the parent process has exited");
    return place.backend == BACKEND_cpu ? limits_cpu_measure(place.threads, limits)
                                        : limits_gpu_measure(place.device, limits);
}

static bool send(int out, const Limits *limits)
{
    CLEANUP(json_text_free) json_t *json = NULL;
    if (limits_json_encode(&json, limits) != ST_OK) return false;
    CLEANUP(array_free) char *text = json_dumps(json, JSON_COMPACT);
    return text && send_line(out, text);
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
    return placement_find(config, &place) == ST_OK && limits_cache_of(&place, out);
}
