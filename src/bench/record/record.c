#include "bench/record/record.h"

#include "base/escape.h"
#include "base/json_text.h"
#include "base/stats.h"
#include "bench/record/record_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *record_status_word(RecordStatus status)
{
    static const char *const words[] = {
#define RECORD_STATUS(name, word) word,
#include "bench/record/record_statuses.def"
#undef RECORD_STATUS
    };
    return words[status];
}

static RecordStatus status_of(const json_t *object)
{
    const char *word = json_string_value(json_object_get(object, "status"));
    for (int s = 0; word && s < RECORD_STATUS_COUNT; s++) {
        if (strcmp(word, record_status_word((RecordStatus)s)) == 0) return (RecordStatus)s;
    }
    return RECORD_STATUS_COUNT;
}

/* ---- dotted paths ---- */

json_t *record_value(const Record *r, const char *path)
{
    const json_t *at = r;
    for (;;) {
        const size_t n = strcspn(path, ".");
        char key[64];
        if (n >= sizeof key) return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        json_t *value = json_object_get(at, key);
        if (!value || path[n] == '\0') return value;
        at = value;
        path += n + 1;
    }
}

/* Steals `value`; makes the objects on the way. */
static Status put(Record *r, const char *path, json_t *value)
{
    if (!value) return NO_MEMORY("for a result");
    const char *dot = strchr(path, '.');
    if (!dot) return json_object_set_new(r, path, value) ? NO_MEMORY("for a result") : ST_OK;
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)(dot - path), path);
    json_t *child = json_object_get(r, key);
    if (!json_is_object(child)) {
        child = json_object();
        if (!child || json_object_set_new(r, key, child)) {
            json_decref(value);
            return NO_MEMORY("for a result");
        }
    }
    return put(child, dot + 1, value);
}

/* ---- setters ---- */

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

Status record_put_number(Record *r, const char *path, double value)
{
    return put(r, path, number(value));
}

Status record_put_int(Record *r, const char *path, int64_t value)
{
    return put(r, path, json_integer(value));
}

Status record_put_text(Record *r, const char *path, const char *text)
{
    return put(r, path, json_text_string(text));
}

Status record_put_null(Record *r, const char *path)
{
    return put(r, path, json_null());
}

Status record_put_status(Record *r, RecordStatus status, const char *message)
{
    TRY(record_put_text(r, "status", record_status_word(status)));
    return message ? record_put_text(r, "message", message) : record_put_null(r, "message");
}

Status record_warn(Record *r, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_t *list = json_object_get(r, "warnings");
    if (!json_is_array(list)) {
        list = json_array();
        TRY(put(r, "warnings", list));
    }
    json_t *value = json_text_string(text);
    return !value || json_array_append_new(list, value) ? NO_MEMORY("for a result") : ST_OK;
}

/* ---- phases ---- */

static json_t *samples_ms(const double *seconds, int n)
{
    json_t *list = json_array();
    for (int i = 0; list && i < n; i++) {
        if (json_array_append_new(list, json_real(seconds[i] * 1e3)) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

Status record_put_samples(Record *r, const char *phase, const double *seconds, int n)
{
    if (n < 1) return FAIL(ST_FAILED, "no samples of phase %s", phase);
    const StatsSummary s = stats_summary(seconds, n);
    if (!isfinite(s.mean) || s.min < 0)
        return FAIL(ST_FAILED, "a sample of phase %s is no time", phase);
    json_t *value = json_object();
    TRY(put(r, phase, value));
    TRY(record_put_text(value, "status", record_status_word(RECORD_OK)));
    TRY(put(value, "mean_ms", number(s.mean * 1e3)));
    TRY(put(value, "std_ms", number(s.std * 1e3)));
    TRY(put(value, "min_ms", number(s.min * 1e3)));
    TRY(put(value, "max_ms", number(s.max * 1e3)));
    TRY(put(value, "median_ms", number(s.median * 1e3)));
    TRY(put(value, "median_low_ms", number(s.median_low * 1e3)));
    TRY(put(value, "median_high_ms", number(s.median_high * 1e3)));
    TRY(put(value, "ci95_low_ms", number(s.ci95_low * 1e3)));
    TRY(put(value, "ci95_high_ms", number(s.ci95_high * 1e3)));
    return put(value, "samples_ms", samples_ms(seconds, n));
}

Status record_put_phase(Record *r, const char *phase, RecordStatus status, const char *message)
{
    json_t *value = json_object();
    TRY(put(r, phase, value));
    return record_put_status(value, status, message);
}

/* ---- getters ---- */

bool record_number(const Record *r, const char *path, double *out)
{
    const json_t *value = record_value(r, path);
    if (!json_is_number(value)) return false;
    *out = json_number_value(value);
    return true;
}

bool record_int(const Record *r, const char *path, int64_t *out)
{
    const json_t *value = record_value(r, path);
    if (!json_is_integer(value)) return false;
    *out = json_integer_value(value);
    return true;
}

const char *record_text(const Record *r, const char *path)
{
    return json_string_value(record_value(r, path));
}

RecordStatus record_status(const Record *r)
{
    const RecordStatus status = status_of(r);
    return status == RECORD_STATUS_COUNT ? RECORD_FAILED : status;
}

RecordStatus record_phase_status(const Record *r, const char *phase)
{
    return status_of(json_object_get(r, phase));
}

/* ---- identity: what was asked for is in record_key.c ---- */

const char *record_key(const Record *r)
{
    return record_text(r, "cell");
}

bool record_asked(const Record *r, const char *field, char *text, size_t size)
{
    const size_t n = strlen(field);
    for (const char *at = record_key(r); at && *at;) {
        const size_t length = strcspn(at, " ");
        if (strncmp(at, field, n) == 0 && at[n] == '=') {
            snprintf(text, size, "%.*s", (int)(length - n - 1), at + n + 1);
            escape_trim(text);
            return true;
        }
        at += length + (at[length] == ' ');
    }
    return false;
}

static Status put_model(Record *r, const Config *c)
{
    TRY(record_put_text(r, "size", c->model.size));
    TRY(record_put_int(r, "d_model", c->model.d_model));
    TRY(record_put_int(r, "d_ff", c->model.d_ff));
    TRY(record_put_int(r, "num_layers", c->model.num_layers));
    TRY(record_put_int(r, "num_heads", c->model.num_heads));
    return record_put_int(r, "vocab", c->model.vocab);
}

static Status put_attention(Record *r, const Config *c)
{
    TRY(record_put_int(r, "d_head", c->d_head));
    TRY(record_put_int(r, "heads", c->heads));
    return record_put_text(r, "mask", config_mask_name(c->mask));
}

/* What only a training step has. */
static Status put_training(Record *r, const Config *c)
{
    TRY(record_put_text(r, "recompute", config_recompute_text(c->recompute).s));
    TRY(record_put_null(r, "parameters"));
    TRY(record_put_number(r, "lr", c->lr));
    TRY(record_put_number(r, "clip", c->clip));
    return record_put_text(r, "loss_scale", config_loss_scale_text(c->loss_scale).s);
}

static Status put_run(Record *r, const Config *c)
{
    TRY(record_put_int(r, "ctx", c->ctx));
    TRY(record_put_int(r, "batch", c->batch));
    TRY(record_put_text(r, "device", c->device));
    TRY(record_put_text(r, "precision", config_precision_name(c->precision)));
    TRY(record_put_text(r, "mode", config_mode_name(c->mode)));
    TRY(record_put_text(r, "attention", config_attention_name(c->attention)));
    TRY(record_put_text(r, "exec", config_exec_name(c->exec)));
    TRY(record_put_int(r, "warmup", c->warmup));
    TRY(record_put_int(r, "steps", c->steps));
    TRY(record_put_text(r, "stat", config_stat_name(c->stat)));
    TRY(record_put_int(r, "seed", c->seed));
    TRY(record_put_int(r, "threads", c->threads));
    TRY(record_put_text(r, "blas", config_blas_name(c->blas)));
    return c->memory_limit ? record_put_number(r, "memory_limit_mib",
                                               (double)c->memory_limit / (1024.0 * 1024.0))
                           : record_put_null(r, "memory_limit_mib");
}

static Status put_config(Record *r, const Config *c)
{
    const bool alone = c->subject == SUBJECT_ATTENTION;
    char key[RECORD_KEY_SIZE];
    record_key_of_config(c, key);
    TRY(record_put_text(r, "cell", key));
    TRY(alone ? put_attention(r, c) : put_model(r, c));
    TRY(put_run(r, c));
    if (!alone) TRY(put_training(r, c));
    return record_put_status(r, RECORD_FAILED, NULL);
}

Status record_new(Record **out, const Config *config)
{
    *out = NULL;
    Record *r = json_object();
    if (!r) return NO_MEMORY("for a result");
    const Status made = put_config(r, config);
    if (made != ST_OK) {
        json_decref(r);
        return made;
    }
    *out = r;
    return ST_OK;
}

/* ---- text ---- */

char *record_dump(const Record *r)
{
    return json_dumps(r, JSON_COMPACT | JSON_REAL_PRECISION(15));
}

Status record_parse(Record **out, const char *text, size_t n, const char *where)
{
    *out = NULL;
    json_error_t error;
    json_t *value = json_loadb(text, n, 0, &error);
    if (!value)
        return FAIL(ST_USAGE, "%s: not JSON: %s (column %d)", where, error.text, error.column);
    const Status checked = record_check(value);
    if (checked != ST_OK) {
        json_decref(value);
        status_context("%s", where);
        return checked;
    }
    *out = value;
    return ST_OK;
}
