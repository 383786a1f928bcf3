#include "cli/forecast/forecast_check.h"

#include "base/array.h"
#include "base/human.h"
#include "bench/record/record_config.h"
#include "bench/record/record_stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CheckName {
    char s[96];
} CheckName;

/* As files of efficiencies name the steps that they were fitted to. */
static CheckName name_of(const Record *r)
{
    CheckName name;
    int64_t ctx = 0, batch = 0;
    record_int(r, "ctx", &ctx);
    record_int(r, "batch", &batch);
    snprintf(name.s, sizeof name.s, "%s %lld x %lld %s", record_text(r, "size"), (long long)batch,
             (long long)ctx, record_text(r, "precision"));
    return name;
}

static bool is_among(const char (*names)[96], int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

/* By profiles, or where a host submits, by steps; on the same device. */
static bool was_fitted(const Efficiency *e, const EfficiencyHost *host, const LimitsKey *here,
                       const char *name)
{
    const LimitsKey *of = &e->measured_on;
    if (strcmp(of->gpu, here->gpu) != 0 || (!*of->gpu && strcmp(of->cpu, here->cpu) != 0))
        return false;
    return host ? is_among(host->sources, host->n_sources, name)
                : is_among(e->sources, e->n_sources, name);
}

/* Whole steps of a model, measured alone, of that program. */
static bool is_step(const Record *r, EfficiencyProgram program, double *seconds)
{
    double ms;
    if (!record_text(r, "peer") != (program == EFFICIENCY_ROOFSTEP)) return false;
    if (!record_text(r, "size") || !record_text(r, "precision")) return false;
    if (record_status(r) != RECORD_OK || !record_stat_ms(r, "step", &ms)) return false;
    *seconds = 1e-3 * ms;
    return *seconds > 0;
}

Status forecast_check_add(ForecastChecks *checks, const ForecastCheck *row)
{
    TRY(array_grow(&checks->rows, (size_t)checks->n, 1, sizeof *checks->rows));
    checks->rows[checks->n++] = *row;
    return ST_OK;
}

void forecast_check_leave(ForecastChecks *checks, const char *why)
{
    checks->left++;
    snprintf(checks->why, sizeof checks->why, "%s", why);
}

/* ST_UNSUPPORTED: these limits are of another device. What a file does not say is taken to agree. */
static Status check_device(const Record *r, const json_t *environment, const LimitsKey *key)
{
    int64_t threads = 0;
    const char *want = *key->gpu ? key->gpu : key->cpu, *device = record_text(r, "device");
    const bool gpu = device && strncmp(device, "cuda", 4) == 0;
    const char *ran_on = record_text(environment, gpu ? "gpu" : "cpu");
    if (device && gpu != (*key->gpu != '\0'))
        return FAIL(ST_UNSUPPORTED, "it ran on a %s, and the limits are of a %s",
                    gpu ? "GPU" : "CPU", gpu ? "CPU" : "GPU");
    if (ran_on && strcmp(ran_on, want) != 0)
        return FAIL(ST_UNSUPPORTED, "it ran on %s, and the limits are of %s", human_plain(ran_on).s,
                    human_plain(want).s);
    if (!gpu && record_int(r, "threads", &threads) && threads != key->threads)
        return FAIL(ST_UNSUPPORTED, "it ran on %lld threads, and the limits are of %d",
                    (long long)threads, key->threads);
    return ST_OK;
}

static Status config_of(const Record *r, const json_t *environment, EfficiencyProgram program,
                        const Limits *limits, Config *config)
{
    TRY(program == EFFICIENCY_TORCH ? record_config_torch(r, config) : record_config(r, config));
    snprintf(config->device, sizeof config->device, "auto");
    return check_device(r, environment, &limits->key);
}

static Status check_record(ForecastChecks *checks, const Record *r, const json_t *environment,
                           const Efficiency *e, EfficiencyProgram program, const Limits *limits)
{
    Config config;
    StepForecast f;
    double seconds;
    if (!is_step(r, program, &seconds)) return ST_OK;
    Status status = config_of(r, environment, program, limits, &config);
    if (status == ST_OK) status = step_forecast_make(&f, e, &config, program, limits);
    if (status == ST_OK && *f.why) status = FAIL(ST_UNSUPPORTED, "%s", f.why);
    if (status == ST_UNSUPPORTED) {
        forecast_check_leave(checks, status_message());
        return ST_OK;
    }
    TRY(status);
    ForecastCheck row = {.phase = "step",
                         .measured = seconds,
                         .forecast = f.step,
                         .roof = f.roof,
                         .low = f.low,
                         .high = f.high};
    snprintf(row.name, sizeof row.name, "%s", name_of(r).s);
    const EfficiencyHost *host = *limits->key.gpu ? efficiency_host(e, program, config.exec) : NULL;
    const bool captured = program == EFFICIENCY_ROOFSTEP && config.exec == EXEC_GRAPH;
    row.fitted = was_fitted(e, captured ? NULL : host, &limits->key, row.name);
    return forecast_check_add(checks, &row);
}

Status forecast_check_records(ForecastChecks *checks, const RecordSet *rows,
                              const Efficiency *efficiency, EfficiencyProgram program,
                              const Limits *limits)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *r = record_set_at(rows, i);
        TRY(check_record(checks, r, record_set_environment(rows, r), efficiency, program, limits));
    }
    return ST_OK;
}

void forecast_check_free(ForecastChecks *checks)
{
    free(checks->rows);
    checks->rows = NULL;
}
