#include "bench/forecast/host_fit.h"

#include "base/array.h"
#include "bench/forecast/step_forecast.h"
#include "bench/forecast/submit_queue.h"
#include "bench/record/record_config.h"
#include "bench/record/record_stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A measured step. */
typedef struct Row {
    StepForecastNodes nodes;
    EfficiencyProgram program;
    Exec exec;
    double measured[PHASE_COUNT]; /* seconds; 0: was not measured */
    char name[96];
} Row;

typedef struct Fit {
    Row *rows;
    int n;
    int without; /* a row that is left out; -1: none */
} Fit;

/* ---- rows ---- */

static Status config_of(const Record *r, Config *config, EfficiencyProgram *program)
{
    *program = EFFICIENCY_ROOFSTEP;
    if (record_config(r, config) == ST_OK) return ST_OK;
    *program = EFFICIENCY_TORCH;
    return record_config_torch(r, config);
}

static bool put_measured(Row *row, const Record *r)
{
    bool any = false;
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        double ms;
        if (!record_stat_ms(r, plan_phase_name((Phase)p), &ms)) continue;
        row->measured[p] = 1e-3 * ms;
        any = true;
    }
    return any;
}

static bool is_wanted(const Record *r, const Config *config)
{
    const char *device = record_text(r, "device");
    return device && strncmp(device, "cuda", 4) == 0 && record_status(r) == RECORD_OK &&
           !record_value(r, "profile") && config->exec != EXEC_GRAPH && config->ranks <= 1 &&
           config->accumulate <= 1;
}

static Status add_row(Fit *fit, const Record *r, const Efficiency *e, const Limits *limits)
{
    Config config;
    Row row = {0};
    const Status status = config_of(r, &config, &row.program);
    if (status == ST_UNSUPPORTED) return ST_OK;
    TRY(status);
    if (!is_wanted(r, &config) || !put_measured(&row, r)) return ST_OK;
    snprintf(config.device, sizeof config.device, "auto");
    row.exec = config.exec;
    snprintf(row.name, sizeof row.name, "%.40s %lld x %lld %s", config.model.size,
             (long long)config.batch, (long long)config.ctx, config_precisions[config.precision]);
    TRY(array_grow(&fit->rows, (size_t)fit->n, 1, sizeof *fit->rows));
    const Status planned = step_forecast_nodes(&row.nodes, e, &config, limits);
    fit->rows[fit->n++] = row;
    return planned;
}

/* ---- a host ---- */

static double time_of(const Row *row, Phase phase, double host)
{
    SubmitQueue queue = {.phase = phase};
    for (int i = 0; i < row->nodes.n; i++) {
        const StepForecastNode *node = &row->nodes.of[i];
        if (node->phase == phase) submit_queue_add(&queue, phase, host, node->seconds);
    }
    return queue.done;
}

static bool is_of(const Fit *fit, int i, const EfficiencyHost *host)
{
    const Row *row = &fit->rows[i];
    return i != fit->without && row->program == host->program && row->exec == host->exec;
}

/* Squares of relative errors. */
static double misfit(const Fit *fit, const EfficiencyHost *host, Phase phase, double seconds)
{
    double sum = 0;
    for (int i = 0; i < fit->n; i++) {
        const Row *row = &fit->rows[i];
        if (!is_of(fit, i, host) || !(row->measured[phase] > 0)) continue;
        const double ratio = log(time_of(row, phase, seconds) / row->measured[phase]);
        if (isfinite(ratio)) sum += ratio * ratio;
    }
    return sum;
}

/* By sections: the misfit falls and rises once. Where the device alone sets the pace any small number does:
 * then it is 0. */
static double best(const Fit *fit, const EfficiencyHost *host, Phase phase)
{
    enum { SECTIONS = 60 };
    double low = 0, high = 1e-3;
    for (int i = 0; i < SECTIONS; i++) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (misfit(fit, host, phase, a) <= misfit(fit, host, phase, b))
            high = b;
        else
            low = a;
    }
    const double x = 0.5 * (low + high);
    return misfit(fit, host, phase, 0) <= misfit(fit, host, phase, x) * (1 + 1e-9) ? 0 : x;
}

static void fit_host(const Fit *fit, EfficiencyHost *host)
{
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) host->seconds[p] = best(fit, host, (Phase)p);
}

/* Each step by the others. */
static double error_of(Fit *fit, EfficiencyHost *host)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < fit->n; i++) {
        const Row *row = &fit->rows[i];
        double told = 0, measured = 0;
        fit->without = -1;
        if (!is_of(fit, i, host)) continue;
        fit->without = i;
        fit_host(fit, host);
        for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
            if (!(row->measured[p] > 0)) continue;
            told += time_of(row, (Phase)p, host->seconds[p]);
            measured += row->measured[p];
        }
        sum += pow(log(told / measured), 2);
        n++;
    }
    fit->without = -1;
    return n > 1 ? sqrt(sum / n) : NAN;
}

static void add_host(Efficiency *e, Fit *fit, const Row *like)
{
    if (efficiency_host(e, like->program, like->exec) || e->n_hosts == EFFICIENCY_HOSTS) return;
    EfficiencyHost *host = &e->hosts[e->n_hosts++];
    *host = (EfficiencyHost){.program = like->program, .exec = like->exec};
    host->error = error_of(fit, host);
    fit_host(fit, host);
    for (int i = 0; i < fit->n && host->n_sources < EFFICIENCY_SOURCES; i++) {
        if (is_of(fit, i, host))
            memcpy(host->sources[host->n_sources++], fit->rows[i].name, sizeof host->sources[0]);
    }
}

Status host_fit(Efficiency *e, const RecordSet *rows, const Limits *limits)
{
    Fit fit = {.without = -1};
    Status status = ST_OK;
    e->n_hosts = 0;
    for (size_t i = 0; i < record_set_size(rows) && status == ST_OK && *limits->key.gpu; i++)
        status = add_row(&fit, record_set_at(rows, i), e, limits);
    for (int i = 0; i < fit.n && status == ST_OK; i++) add_host(e, &fit, &fit.rows[i]);
    for (int i = 0; i < fit.n; i++) free(fit.rows[i].nodes.of);
    free(fit.rows);
    return status;
}
