#include "bench/limits/limits_json.h"

#include "base/gzip_file.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "bench/limits/datasheet.h"
#include "config/option.h"
#include "version.h"

#include <math.h>
#include <stdio.h>

enum { SCHEMA = 1 };

static const char *const scope_names[LIMITS_SCOPES] = {"one_core", "all"};

static json_t *encode_rate(const LimitsRate *r)
{
    return json_pack("{s:f, s:f, s:f, s:i}", "median", r->median, "min", r->min, "max", r->max, "n",
                     r->n);
}

static json_t *encode_limit(const Limits *limits, LimitId id)
{
    json_t *limit = json_object();
    const double promised = datasheet_find(limits->key.gpu, id);
    json_object_set_new(limit, "unit", json_string(limits_unit(id)));
    for (int s = 0; s < LIMITS_SCOPES; s++) {
        if (!limits_has_scope(&limits->key, id, (LimitsScope)s)) continue;
        json_object_set_new(limit, scope_names[s], encode_rate(&limits->rate[id][s]));
    }
    if (promised > 0) json_object_set_new(limit, "datasheet", json_real(promised));
    return limit;
}

static json_t *encode_limits(const Limits *limits)
{
    json_t *all = json_object();
    for (int i = 0; all && i < LIMIT_COUNT; i++) {
        if (!limits_shows(limits, (LimitId)i)) continue;
        json_object_set_new(all, limits_names[i].name, encode_limit(limits, (LimitId)i));
    }
    return all;
}

static json_t *encode_key(const LimitsKey *key)
{
    if (*key->gpu) {
        return json_pack("{s:s, s:i, s:s, s:s, s:s}", "gpu", key->gpu, "multiprocessors",
                         key->multiprocessors, "cpu", key->cpu, "blas", key->blas, "version",
                         key->version);
    }
    return json_pack("{s:s, s:i, s:i, s:s, s:s, s:s*}", "cpu", key->cpu, "cores", key->cores,
                     "threads", key->threads, "blas", key->blas, "version", key->version, "mpi",
                     *key->mpi ? key->mpi : NULL);
}

Status limits_json_encode(json_t **out, const Limits *limits)
{
    const char *kernels = *limits->kernels ? limits->kernels : ROOFSTEP_KERNELS;
    *out =
        json_pack("{s:i, s:o*, s:s, s:f, s:f, s:f, s:o*, s:s, s:I, s:I}", "schema", SCHEMA, "key",
                  encode_key(&limits->key), "time_utc", limits->time_utc, "seconds",
                  limits->seconds, "steal", limits->steal, "others", limits->others, "limits",
                  encode_limits(limits), "kernels", kernels, "memory_bytes",
                  (json_int_t)limits->memory_bytes, "cache_bytes", (json_int_t)limits->cache_bytes);
    if (*out && *limits->key.gpu) {
        json_object_set_new(*out, "capability", json_integer(limits->capability));
        json_object_set_new(*out, "throttled", json_string(limits->throttled));
    }
    return *out ? ST_OK : NO_MEMORY("for the limits as JSON");
}

static bool sensible(const LimitsRate *r)
{
    if (!isfinite(r->min) || !isfinite(r->max)) return false;
    if (r->n == 0) return r->median == 0;
    return r->n > 0 && r->min > 0 && r->min <= r->median && r->median <= r->max;
}

static Status decode_rate(LimitsRate *r, json_t *limit, LimitId id, const char *scope)
{
    json_t *from = json_object_get(limit, scope);
    const bool read = from && json_unpack(from, "{s:F, s:F, s:F, s:i}", "median", &r->median, "min",
                                          &r->min, "max", &r->max, "n", &r->n) == 0;
    if (read && sensible(r)) return ST_OK;
    return FAIL(ST_IO, "%s.%s is not a rate", limits_names[id].name, scope);
}

/* A limit that an older program did not know stays unmeasured. */
static Status decode_limits(Limits *out, const json_t *all)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (!limits_has(&out->key, (LimitId)i)) continue;
        json_t *limit = json_object_get(all, limits_names[i].name);
        if (!limit) continue;
        for (int s = 0; s < LIMITS_SCOPES; s++) {
            if (!limits_has_scope(&out->key, (LimitId)i, (LimitsScope)s)) continue;
            TRY(decode_rate(&out->rate[i][s], limit, (LimitId)i, scope_names[s]));
        }
    }
    return ST_OK;
}

/* Plans reckon with these: no more threads than may be asked for. */
static Status check_counts(const LimitsKey *key, bool gpu)
{
    const int most = (int)option_table[OPTION_THREADS].max, least = gpu ? 0 : 1;
    const int counts[] = {key->cores, key->threads, gpu ? key->multiprocessors : least};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i] < least || counts[i] > most)
            return FAIL(ST_IO, "'key': cores, threads and multiprocessors are %d to %d", least,
                        most);
    }
    return ST_OK;
}

/* A GPU has no cores and threads, a CPU no multiprocessors. */
static Status decode_key(LimitsKey *key, json_t *from)
{
    const char *gpu = "", *cpu, *blas, *version, *mpi = "";
    json_error_t error;
    if (json_unpack_ex(from, &error, 0, "{s?s, s?i, s:s, s?i, s?i, s:s, s:s, s?s}", "gpu", &gpu,
                       "multiprocessors", &key->multiprocessors, "cpu", &cpu, "cores", &key->cores,
                       "threads", &key->threads, "blas", &blas, "version", &version, "mpi",
                       &mpi) != 0) {
        return FAIL(ST_IO, "%s", error.text);
    }
    snprintf(key->gpu, sizeof key->gpu, "%s", gpu);
    snprintf(key->cpu, sizeof key->cpu, "%s", cpu);
    snprintf(key->blas, sizeof key->blas, "%s", blas);
    snprintf(key->version, sizeof key->version, "%s", version);
    snprintf(key->mpi, sizeof key->mpi, "%s", mpi);
    return check_counts(key, *gpu != '\0');
}

Status limits_json_decode(Limits *out, const json_t *from)
{
    int schema = 0;
    const char *time_utc, *throttled = "", *kernels = "unknown";
    json_t *key, *limits;
    json_int_t memory = 0, cache = 0;
    json_error_t error;
    *out = (Limits){0};
    if (json_unpack_ex((json_t *)from, &error, 0,
                       "{s:i, s:o, s:s, s:F, s:F, s:F, s?I, s?I, s?i, s?s, s?s, s:o}", "schema",
                       &schema, "key", &key, "time_utc", &time_utc, "seconds", &out->seconds,
                       "steal", &out->steal, "others", &out->others, "memory_bytes", &memory,
                       "cache_bytes", &cache, "capability", &out->capability, "throttled",
                       &throttled, "kernels", &kernels, "limits", &limits) != 0) {
        return FAIL(ST_IO, "%s", error.text);
    }
    if (schema != SCHEMA) return FAIL(ST_IO, "schema %d, expected %d", schema, SCHEMA);
    if (memory < 0 || cache < 0 || out->capability < 0)
        return FAIL(ST_IO, "memory_bytes, cache_bytes and capability must be 0 or more");
    out->memory_bytes = memory;
    out->cache_bytes = cache;
    TRY(decode_key(&out->key, key));
    snprintf(out->time_utc, sizeof out->time_utc, "%s", time_utc);
    snprintf(out->kernels, sizeof out->kernels, "%s", kernels);
    snprintf(out->throttled, sizeof out->throttled, "%s", throttled);
    return decode_limits(out, limits);
}

Status limits_json_read(Limits *out, const char *text, size_t n)
{
    json_error_t error;
    CLEANUP(json_text_free) json_t *json = NULL;
    TRY(json_reader_parse(&json, "a file of limits", text, n, JSON_REJECT_DUPLICATES, &error));
    if (!json) return FAIL(ST_IO, "%s", error.text);
    return limits_json_decode(out, json);
}

static Status check_rates(const Limits *limits)
{
    for (int p = 0; p < PRECISION_COUNT; p++) {
        if (limits_peak_flops(limits, (Precision)p) > 0) return ST_OK;
    }
    return FAIL(ST_USAGE, "it has no rate of a matmul");
}

/* What jansson stumbled over may hold line breaks; main() puts the message on one line. */
Status limits_json_read_file(Limits *out, const char *path)
{
    static const size_t most = (size_t)1 << 20;
    CLEANUP(text_free) Text text = {0};
    Status status = gzip_file_read(&text, path, most);
    if (status == ST_OK) {
        status = limits_json_read(out, text_str(&text), text.n);
        if (status == ST_OK) status = check_rates(out);
        if (status != ST_OK && status != ST_NO_MEMORY)
            status_context("%s is no file of roofstep limits --format json", path);
    }
    return status == ST_IO ? ST_USAGE : status; /* nothing was done yet */
}
