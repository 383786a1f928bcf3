#include "base/log.h"
#include "bench/limits/limits.h"
#include "bench/limits/limits_gpu.h"
#include "bench/limits/limits_json.h"
#include "bench/limits/placement.h"
#include "bench/measure/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double too_busy = 0.1; /* share of the device's time */

/* ---- in a child process, so that this one may still fork: `auto` and a GPU's name open a device ---- */

typedef struct Request {
    const Config *config;
    bool refresh;
} Request;

static const char begins[] = "measuring";
enum { CANNOT_BE = 2 }; /* exit code: nothing was measured, because it is unsupported */

static Status key_of(const Placement *place, LimitsKey *key)
{
    return place->backend == BACKEND_cpu ? limits_key(place->threads, key)
                                         : limits_gpu_key(place->device, key);
}

static Status find_or_measure(const Request *request, int out, Limits *limits)
{
    Placement place;
    LimitsKey key;
    TRY(placement_find(request->config, &place));
    const bool cpu = place.backend == BACKEND_cpu;
    TRY(key_of(&place, &key));
    if (!request->refresh && limits_load(&key, limits)) return ST_OK;
    if (!child_write(out, begins, strlen(begins)) || !child_write(out, "\n", 1)) {
        return FAIL(ST_IO, "nobody waits for the limits any more");
    }
    return cpu ? limits_measure(place.threads, limits) : limits_gpu_measure(place.device, limits);
}

static bool send(int out, const Limits *limits)
{
    json_t *json = NULL;
    if (limits_json_encode(&json, limits) != ST_OK) return false;
    char *text = json_dumps(json, JSON_COMPACT);
    const bool sent = text && child_write(out, text, strlen(text)) && child_write(out, "\n", 1);
    free(text);
    json_decref(json);
    return sent;
}

static int answer_request(void *arg, int out)
{
    Limits limits;
    const Status status = find_or_measure(arg, out, &limits);
    if (status == ST_OK && send(out, &limits)) return 0;
    log_line(status_message());
    return status == ST_UNSUPPORTED ? CANNOT_BE : 1;
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
        log_note("measuring this device's limits (once, some 15 to 60 s)");
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
    if (result.end == CHILD_RETURNED && result.code == CANNOT_BE && *answer->printed)
        return FAIL(ST_UNSUPPORTED, "%s", answer->printed);
    return FAIL(ST_FAILED, "measuring this device's limits failed: %s",
                *answer->printed ? answer->printed : result.text);
}

static void warn_of_others(const Limits *limits, bool keep)
{
    const double busy = limits->steal + limits->others;
    if (!limits_was_busy(limits)) return;
    log_warning("other programs took %.0f %% of the %s meanwhile: these figures may be too low%s",
                100 * busy, *limits->key.gpu ? "GPU" : "processors",
                busy > too_busy && !keep
                    ? " and are not kept: run it again when it is quiet, or with --keep"
                    : "; try --refresh when it is quiet");
}

Status limits_get(const Config *config, bool refresh, bool keep, Limits *out)
{
    const Request request = {config, refresh};
    Answer answer = {.limits = out, .status = ST_FAILED};
    Placement place;
    if (strcmp(config->device, "auto") != 0) TRY(placement_find(config, &place));
    TRY(ask_child(&request, &answer));
    if (!answer.measured) return ST_OK;
    warn_of_others(out, keep);
    if (*out->throttled) {
        log_warning("the GPU was slowed down while it was measured: %s", out->throttled);
    }
    const bool quiet = out->steal + out->others <= too_busy;
    if ((quiet || keep) && limits_store(out) != ST_OK) {
        log_warning("limits are not stored: %s", status_message());
    }
    return ST_OK;
}

bool limits_get_stored(const Config *config, Limits *out)
{
    Placement place;
    LimitsKey key;
    return placement_find(config, &place) == ST_OK && key_of(&place, &key) == ST_OK &&
           limits_load(&key, out);
}
