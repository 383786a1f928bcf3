#include "bench/forecast/efficiency_fit.h"

#include "base/array.h"
#include "base/stats.h"
#include "bench/limits/datasheet.h"
#include "bench/limits/roofline.h"
#include "bench/record/profile_view.h"
#include "bench/record/record_config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of a profile: the mean of its nodes. */
typedef struct Sample {
    EfficiencyWork work;
    OpKind op;
    Precision precision; /* PRECISION_COUNT: bytes count alone */
    char impl[EFFICIENCY_IMPL];
    double seconds, nodes;
    int profile;
} Sample;

/* A profiled step. */
typedef struct Profiled {
    Precision precision;
    double seconds, of_nodes, nodes; /* of a step that was not watched; of its nodes, watched */
} Profiled;

typedef struct Fit {
    Efficiency *e;
    EfficiencyRates rates;
    Sample *samples;
    int n;
    Profiled *profiles;
    int n_profiles;
    int without; /* a profile that is left out; -1: none */
} Fit;

/* ---- samples ---- */

static Status add_sample(Fit *fit, const ProfileView *view, const ViewOp *row, const Config *config)
{
    const OpKind op = plan_op_find(row->op);
    const double nodes = row->nodes, seconds = 1e-9 * row->time.total / (double)view->steps / nodes;
    if (op == OP_COUNT || !(nodes > 0) || !(seconds > 0)) return ST_OK;
    TRY(array_grow(&fit->samples, (size_t)fit->n, 1, sizeof *fit->samples));
    Sample *s = &fit->samples[fit->n++];
    *s = (Sample){.work = {.flops = row->flops / nodes, .bytes = row->bytes / nodes},
                  .op = op,
                  .precision = efficiency_multiplies(op)
                                   ? efficiency_precision(op, config->precision)
                                   : PRECISION_COUNT,
                  .seconds = seconds,
                  .nodes = nodes,
                  .profile = fit->n_profiles};
    if (!efficiency_has_scores(op)) return ST_OK;
    s->work.scores = s->work.flops / (4 * (double)model_spec_head_dim(&config->model));
    snprintf(s->impl, sizeof s->impl, "%s", row->impl ? row->impl : "");
    return ST_OK;
}

static void note_source(Efficiency *e, const Record *record)
{
    const char *size = record_text(record, "size"), *precision = record_text(record, "precision");
    int64_t ctx = 0, batch = 0;
    record_int(record, "ctx", &ctx);
    record_int(record, "batch", &batch);
    if (e->n_sources == EFFICIENCY_SOURCES) return;
    snprintf(e->sources[e->n_sources++], sizeof e->sources[0], "%s %lld x %lld %s",
             size ? size : "?", (long long)batch, (long long)ctx, precision ? precision : "?");
}

static Status add_profile(Fit *fit, const Record *record)
{
    Config config;
    CLEANUP(profile_view_free) ProfileView view = {0};
    TRY(record_config(record, &config));
    TRY(profile_view_make(&view, record));
    if (view.gpu != (*fit->e->measured_on.gpu != '\0'))
        return FAIL(ST_USAGE, "the profile is of a %s, and --limits of a %s",
                    view.gpu ? "GPU" : "CPU", view.gpu ? "CPU" : "GPU");
    const int first = fit->n;
    for (int i = 0; i < view.n_ops; i++) TRY(add_sample(fit, &view, &view.ops[i], &config));
    TRY(array_grow(&fit->profiles, (size_t)fit->n_profiles, 1, sizeof *fit->profiles));
    Profiled *p = &fit->profiles[fit->n_profiles++];
    *p = (Profiled){.precision = config.precision,
                    .seconds = 1e-9 * profile_view_unprofiled(&view, "step")};
    for (int i = first; i < fit->n; i++) {
        p->nodes += fit->samples[i].nodes;
        p->of_nodes += fit->samples[i].nodes * fit->samples[i].seconds;
    }
    note_source(fit->e, record);
    return ST_OK;
}

/* ---- a line: start and one slope, by weighted least squares of relative errors ---- */

/* What grows with the work, and what is known of the time before it. */
static double slope_of(const Fit *fit, const Sample *s, double *known)
{
    const double flops =
        s->precision == PRECISION_COUNT ? 0 : s->work.flops / fit->rates.flops[s->precision];
    *known = 0;
    if (s->precision == PRECISION_COUNT) return s->work.bytes / fit->rates.bandwidth;
    if (!efficiency_has_scores(s->op)) return flops;
    const EfficiencyLine *products = efficiency_line(fit->e, OP_matmul, s->precision, "", true);
    *known = products ? products->flops * flops : flops;
    return s->work.scores / fit->rates.fp32;
}

static bool is_of(const Sample *s, const EfficiencyLine *line, const Fit *fit)
{
    return s->profile != fit->without && s->op == line->op && s->precision == line->precision &&
           strcmp(s->impl, line->impl) == 0;
}

typedef struct Sums {
    double w, x, xx, y, xy, least, most, shortest;
    int n;
} Sums;

/* Of x / seconds and 1 - known / seconds: errors are relative, and weigh by the root of the time. */
static Sums sums_of(const Fit *fit, const EfficiencyLine *line)
{
    Sums s = {.least = INFINITY, .shortest = INFINITY};
    for (int i = 0; i < fit->n; i++) {
        const Sample *sample = &fit->samples[i];
        double known;
        if (!is_of(sample, line, fit)) continue;
        const double x = slope_of(fit, sample, &known), t = sample->seconds;
        const double w = sqrt(t * sample->nodes) / (t * t), y = fmax(t - known, 0);
        s.w += w;
        s.x += w * x;
        s.xx += w * x * x;
        s.y += w * y;
        s.xy += w * x * y;
        s.least = fmin(s.least, x);
        s.most = fmax(s.most, x);
        s.shortest = fmin(s.shortest, y);
        s.n++;
    }
    return s;
}

/* Two numbers need rows that differ in size. */
static bool tells_both(const Sums *s)
{
    return s->n >= 3 && s->most > 2 * s->least;
}

static void solve(const Sums *s, double fixed_start, double *start, double *slope)
{
    const double det = s->w * s->xx - s->x * s->x;
    *start = isnan(fixed_start) ? (s->y * s->xx - s->x * s->xy) / det
                                : fmin(fixed_start, 0.5 * s->shortest);
    *start = fmax(*start, 0);
    *slope = s->xx > 0 ? fmax((s->xy - *start * s->x) / s->xx, 0) : 0;
}

static void put_slope(EfficiencyLine *line, const Fit *fit, double slope)
{
    const bool multiplies = line->precision != PRECISION_COUNT;
    const EfficiencyLine *products = efficiency_line(fit->e, OP_matmul, line->precision, "", true);
    line->bytes = multiplies ? 1 : slope;
    line->flops = multiplies ? slope : 0;
    if (!efficiency_has_scores(line->op)) return;
    line->score = slope;
    line->flops = products ? products->flops : 1;
}

static double rms_error(const Fit *fit, const EfficiencyLine *line)
{
    double sum = 0, weights = 0;
    for (int i = 0; i < fit->n; i++) {
        const Sample *s = &fit->samples[i];
        if (!is_of(s, line, fit)) continue;
        const Precision p = s->precision == PRECISION_COUNT ? PRECISION_FP32 : s->precision;
        const double log_ratio =
            log(efficiency_seconds(line, &s->work, &fit->rates, p) / s->seconds);
        const double w = s->seconds * s->nodes;
        sum += w * log_ratio * log_ratio;
        weights += w;
    }
    return weights > 0 ? sqrt(sum / weights) : 0;
}

static bool has_line(const Fit *fit, const Sample *s)
{
    for (int i = 0; i < fit->e->n_lines; i++) {
        if (is_of(s, &fit->e->lines[i], fit)) return true;
    }
    return false;
}

/* Lines of attention go by that of products: those come first. */
static void list_lines(Fit *fit)
{
    fit->e->n_lines = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < fit->n && fit->e->n_lines < EFFICIENCY_LINES; i++) {
            const Sample *s = &fit->samples[i];
            if ((pass == 0) != (s->op == OP_matmul) || s->profile == fit->without ||
                has_line(fit, s))
                continue;
            EfficiencyLine *line = &fit->e->lines[fit->e->n_lines++];
            *line = (EfficiencyLine){.op = s->op, .precision = s->precision};
            memcpy(line->impl, s->impl, sizeof line->impl);
        }
    }
}

static void fit_line(Fit *fit, EfficiencyLine *line, double fixed_start)
{
    const Sums sums = sums_of(fit, line);
    double slope;
    solve(&sums, fixed_start, &line->start, &slope);
    put_slope(line, fit, slope);
    line->rows = sums.n;
    line->error = rms_error(fit, line);
}

/* Where rows do not tell the start it is that of other lines that are told by the same. */
static Status fit_lines(Fit *fit)
{
    CLEANUP(array_free) double *starts = calloc((size_t)fit->e->n_lines + 1, sizeof *starts);
    if (!starts) return NO_MEMORY("to fit efficiencies");
    int n = 0;
    for (int pass = 0; pass < 2; pass++) {
        const double usual = pass == 1 && n > 0 ? stats_median(starts, n) : 0;
        for (int i = 0; i < fit->e->n_lines; i++) {
            EfficiencyLine *line = &fit->e->lines[i];
            const Sums sums = sums_of(fit, line);
            if (tells_both(&sums) != (pass == 0)) continue;
            fit_line(fit, line, pass == 0 ? NAN : usual);
            if (pass == 0) starts[n++] = line->start;
        }
    }
    return ST_OK;
}

/* ---- steps ---- */

static double forecast_profile(const Fit *fit, int profile)
{
    static const EfficiencyLine roof = {.flops = 1, .bytes = 1};
    double seconds = 0;
    for (int i = 0; i < fit->n; i++) {
        const Sample *s = &fit->samples[i];
        if (s->profile != profile) continue;
        const EfficiencyLine *line = efficiency_line(fit->e, s->op, s->precision, s->impl, true);
        const Precision p = s->precision == PRECISION_COUNT ? PRECISION_FP32 : s->precision;
        seconds += s->nodes * (fit->e->gap +
                               efficiency_seconds(line ? line : &roof, &s->work, &fit->rates, p));
    }
    return seconds;
}

/* Kernels that are watched take no less time, so what is left between them may come out below 0. */
static Status find_gap(Fit *fit)
{
    CLEANUP(array_free) double *gaps = calloc((size_t)fit->n_profiles + 1, sizeof *gaps);
    if (!gaps) return NO_MEMORY("to fit efficiencies");
    int n = 0;
    for (int i = 0; i < fit->n_profiles; i++) {
        const Profiled *p = &fit->profiles[i];
        if (p->seconds > 0 && i != fit->without) gaps[n++] = (p->seconds - p->of_nodes) / p->nodes;
    }
    fit->e->gap = n > 0 ? fmax(stats_median(gaps, n), 0) : 0;
    return ST_OK;
}

static Status fit_all(Fit *fit, int without)
{
    fit->without = without;
    list_lines(fit);
    TRY(fit_lines(fit));
    return find_gap(fit);
}

/* Each profiled step by the others. */
static Status find_error(Fit *fit)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < fit->n_profiles; i++) {
        if (!(fit->profiles[i].seconds > 0)) continue;
        TRY(fit_all(fit, i));
        const double ratio = log(forecast_profile(fit, i) / fit->profiles[i].seconds);
        sum += ratio * ratio;
        n++;
    }
    fit->e->error = n > 1 ? sqrt(sum / n) : NAN;
    return ST_OK;
}

static void find_reached(Efficiency *e, const Limits *limits)
{
    const double memory = datasheet_find(limits->key.gpu, LIMIT_READ);
    for (int p = 0; p < PRECISION_COUNT; p++) {
        const double promised = datasheet_find(limits->key.gpu, limits_largest((Precision)p));
        if (promised > 0) e->reached[p] = limits_peak_flops(limits, (Precision)p) / promised;
    }
    if (memory > 0) e->reached_memory = roofline_bandwidth(limits) / memory;
}

static Status fit_samples(Fit *fit, const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *record = record_set_at(rows, i);
        if (!record_value(record, "profile")) continue;
        const Status status = add_profile(fit, record);
        if (status == ST_UNSUPPORTED) {
            status_context("a profile cannot be used");
            return ST_USAGE;
        }
        TRY(status);
    }
    if (fit->n == 0)
        return FAIL(ST_USAGE,
                    "--fit: no file has a profile; roofstep profile --format json writes one");
    TRY(find_error(fit));
    return fit_all(fit, -1);
}

Status efficiency_fit(Efficiency *e, const RecordSet *rows, const Limits *limits)
{
    *e = (Efficiency){.measured_on = limits->key};
    Fit fit = {.e = e};
    find_reached(e, limits);
    efficiency_rates(e, limits, PRECISION_FP32, &fit.rates);
    const Status status = fit_samples(&fit, rows);
    free(fit.samples);
    free(fit.profiles);
    return status;
}
