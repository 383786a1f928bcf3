#include "bench/limits_json.h"

#include <math.h>
#include <stdio.h>

enum { SCHEMA = 1 };

static const char *const scope_names[LIMITS_SCOPES] = {"one_core", "all"};

static json_t *encode_rate(const LimitsRate *r)
{
    return json_pack("{s:f, s:f, s:f, s:i}", "median", r->median, "min", r->min, "max", r->max, "n",
                     r->n);
}

static json_t *encode_rates(const Limits *limits)
{
    json_t *all = json_object();
    for (int i = 0; all && i < LIMIT_COUNT; i++) {
        json_t *both = json_object();
        const bool memory = limits_names[i].kind == LIMITS_MEMORY;
        json_object_set_new(both, "unit", json_string(memory ? "byte/s" : "FLOP/s"));
        for (int s = 0; s < LIMITS_SCOPES; s++) {
            json_object_set_new(both, scope_names[s], encode_rate(&limits->rate[i][s]));
        }
        json_object_set_new(all, limits_names[i].name, both);
    }
    return all;
}

Status limits_json_encode(json_t **out, const Limits *limits)
{
    const LimitsKey *key = &limits->key;
    *out = json_pack("{s:i, s:{s:s, s:i, s:i, s:s, s:s}, s:s, s:f, s:f, s:f, s:o*}", "schema",
                     SCHEMA, "key", "cpu", key->cpu, "cores", key->cores, "threads", key->threads,
                     "blas", key->blas, "version", key->version, "time_utc", limits->time_utc,
                     "seconds", limits->seconds, "steal", limits->steal, "others", limits->others,
                     "limits", encode_rates(limits));
    return *out ? ST_OK : FAIL(ST_NO_MEMORY, "no memory for the limits as JSON");
}

static bool sensible(const LimitsRate *r)
{
    if (!isfinite(r->min) || !isfinite(r->max)) return false;
    if (r->n == 0) return r->median == 0;
    return r->n > 0 && r->min > 0 && r->min <= r->median && r->median <= r->max;
}

static Status decode_rates(Limits *out, const json_t *all)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const json_t *both = json_object_get(all, limits_names[i].name);
        for (int s = 0; s < LIMITS_SCOPES; s++) {
            LimitsRate *r = &out->rate[i][s];
            json_t *from = json_object_get(both, scope_names[s]);
            const bool read =
                from && json_unpack(from, "{s:F, s:F, s:F, s:i}", "median", &r->median, "min",
                                    &r->min, "max", &r->max, "n", &r->n) == 0;
            if (!read || !sensible(r)) {
                return FAIL(ST_IO, "%s.%s is not a rate", limits_names[i].name, scope_names[s]);
            }
        }
    }
    return ST_OK;
}

Status limits_json_decode(Limits *out, const json_t *from)
{
    int schema = 0;
    const char *cpu, *blas, *version, *time_utc;
    json_t *rates;
    json_error_t error;
    *out = (Limits){0};
    if (json_unpack_ex((json_t *)from, &error, 0,
                       "{s:i, s:{s:s, s:i, s:i, s:s, s:s}, s:s, s:F, s:F, s:F, s:o}", "schema",
                       &schema, "key", "cpu", &cpu, "cores", &out->key.cores, "threads",
                       &out->key.threads, "blas", &blas, "version", &version, "time_utc", &time_utc,
                       "seconds", &out->seconds, "steal", &out->steal, "others", &out->others,
                       "limits", &rates) != 0) {
        return FAIL(ST_IO, "%s", error.text);
    }
    if (schema != SCHEMA) return FAIL(ST_IO, "schema %d, expected %d", schema, SCHEMA);
    snprintf(out->key.cpu, sizeof out->key.cpu, "%s", cpu);
    snprintf(out->key.blas, sizeof out->key.blas, "%s", blas);
    snprintf(out->key.version, sizeof out->key.version, "%s", version);
    snprintf(out->time_utc, sizeof out->time_utc, "%s", time_utc);
    return decode_rates(out, rates);
}
