#include "bench/estimate/time_estimate.h"

#include "bench/limits/limits_cache.h"
#include "bench/limits/roofline.h"
#include "bench/measure/sampler.h"
#include "model/model.h"
#include "model/transform_chunk_head.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- work ---- */

/* Backward is twice the forward pass. */
double time_estimate_flops(const Config *c)
{
    return (config_mode_has_backward(c->mode) ? 3 : 1) * model_forward_flops(c);
}

static bool keeps_scores(const Config *c)
{
    return c->subject == SUBJECT_ATTENTION &&
           (c->attention == ATTENTION_NAIVE || c->attention == ATTENTION_FUSED);
}

/* Warm-up and samples of one cell, ended early as the sampler does it. */
static double sampling_seconds(const Config *c, double step)
{
    const double first = c->from_first ? 0 : 1;
    const double unmeasured = step * fmax((double)c->warmup, first);
    const double samples = step * (double)c->steps;
    const double least = step * fmin((double)c->steps, SAMPLER_MIN_SAMPLES);
    const double most = config_sample_seconds(c);
    if (!(most > 0) || isnan(step)) return unmeasured + samples;
    return fmax(fmin(unmeasured, most / 2), step) + fmax(fmin(samples, most), least);
}

/* ---- from the plan and the limits ---- */

TimeEstimate time_estimate_roofline(const Config *config, const Placement *placement,
                                    const Limits *machine, const Plan *plan)
{
    Limits stored;
    if (!machine && !limits_cache_of(placement, &stored)) return (TimeEstimate){NAN, NAN, NAN, NAN};
    const Limits *limits = machine ? machine : &stored;
    const double peak = limits_peak_flops(limits, config->precision);
    return (TimeEstimate){.peak_flops = peak > 0 ? peak : NAN,
                          .bandwidth = roofline_bandwidth(limits),
                          .roof_seconds = roofline_seconds(plan, limits, config->precision),
                          .busy = limits_was_busy(limits) ? limits->steal + limits->others : NAN};
}

double time_estimate_from_roofline(const TimeEstimate *estimate, const Config *config)
{
    static const double share = 0.8; /* of the roof that a step reaches */
    return sampling_seconds(config, estimate->roof_seconds / share);
}

double time_estimate_minimum(const TimeEstimate *estimate, const Config *config)
{
    const double steps = 1 + fmin((double)config->steps, SAMPLER_MIN_SAMPLES);
    return config_sample_seconds(config) > 0 ? steps * estimate->roof_seconds : NAN;
}

/* ---- from the limits alone ---- */

/* Of the limits, over many sizes: small steps are further from them than large ones. */
static const double usual_share = 0.6;
static const double guessed_flops = 5e10, guessed_bandwidth = 1e10;
/* A process and its threads; a context, its libraries and the choice of algorithms. */
static const double start_cpu = 0.3, start_gpu = 2;

static double slowest_of(const double flops[PRECISION_COUNT])
{
    double slowest = INFINITY;
    for (int p = 0; p < PRECISION_COUNT; p++) {
        if (flops[p] > 0) slowest = fmin(slowest, flops[p]);
    }
    return isinf(slowest) ? guessed_flops : slowest;
}

TimeEstimateRates time_estimate_rates(const Limits *limits)
{
    TimeEstimateRates rates = {
        .bandwidth = guessed_bandwidth, .start = start_cpu, .bf16 = true, .known = limits != NULL};
    for (int p = 0; limits && p < PRECISION_COUNT; p++)
        rates.flops[p] = usual_share * limits_peak_flops(limits, (Precision)p);
    const double slowest = slowest_of(rates.flops);
    for (int p = 0; p < PRECISION_COUNT; p++) {
        if (!(rates.flops[p] > 0)) rates.flops[p] = slowest;
    }
    if (!limits) return rates;
    if (roofline_bandwidth(limits) > 0) rates.bandwidth = roofline_bandwidth(limits);
    rates.bf16 = !*limits->key.gpu || limits_peak_flops(limits, PRECISION_BF16) > 0;
    rates.gpu = *limits->key.gpu != '\0';
    if (rates.gpu) rates.start = start_gpu;
    return rates;
}

/* Each primitive of naive attention writes and reads the scores once: twelve times forward and as
 * often backward. */
static double score_traffic(const Config *c)
{
    const double passes = c->attention == ATTENTION_NAIVE ? 24 : 8;
    if (!keeps_scores(c)) return 0;
    return 4 * passes * (double)c->batch * (double)c->heads * (double)c->ctx * (double)c->ctx;
}

/* Ranks take longer to start; then there is a call of ours and one of the library in turn. */
static double collective_seconds(const Config *c, const TimeEstimateRates *rates)
{
    const double passes = 8, moved = passes * (double)c->bytes * (double)c->ranks;
    return 1 + rates->start + sampling_seconds(c, moved / rates->bandwidth);
}

double time_estimate_cell(const Config *config, const TimeEstimateRates *rates)
{
    if (config->subject == SUBJECT_COLLECTIVE) return collective_seconds(config, rates);
    const double step = time_estimate_flops(config) / rates->flops[config->precision] +
                        score_traffic(config) / rates->bandwidth;
    return rates->start + sampling_seconds(config, step);
}

double time_estimate_cells(const Config *configs, int n, const TimeEstimateRates *rates)
{
    double seconds = 0;
    for (int i = 0; i < n; i++) seconds += time_estimate_cell(&configs[i], rates);
    return seconds;
}

/* The limits of a CPU are read once: a sweep has hundreds of cells. Those of a GPU cannot be looked
 * up without opening it, after which this process could not fork. */
static const TimeEstimateRates *rates_of(const Config *config)
{
    static TimeEstimateRates rates;
    static int of_threads = -1;
    Placement place = {0};
    const int threads =
        placement_of(config, &place) == ST_OK && place.backend == BACKEND_cpu ? place.threads : 0;
    if (threads != of_threads) {
        Limits limits;
        const bool known = threads > 0 && limits_cache_of(&place, &limits);
        rates = time_estimate_rates(known ? &limits : NULL);
        of_threads = threads;
    }
    return &rates;
}

double time_estimate_weight(const Config *config)
{
    return fmin(time_estimate_cell(config, rates_of(config)), config->timeout);
}

bool time_estimate_weight_is_known(const Config *config)
{
    return rates_of(config)->known;
}

/* ---- from rows: what time may be proportional to ---- */

/* `saves`: the forward pass was one that keeps what backward needs. */
typedef double Amount(const Config *config, bool saves);

static double all_flops(const Config *c, bool saves)
{
    (void)saves;
    return model_forward_flops(c);
}

static double parameters(const Config *c, bool saves)
{
    (void)saves;
    return model_parameters(c);
}

/* FLOPs of the head's two gradient products where the forward phase runs them, chunk by chunk. */
static double head_gradients(const Config *c)
{
    const int64_t N = c->batch * c->ctx;
    if (c->subject != SUBJECT_MODEL || transform_chunk_head_rows(c, N) >= N) return 0;
    return 4 * config_tokens(c) * (double)c->model.d_model * (double)c->model.vocab;
}

static double forward_flops(const Config *c, bool saves)
{
    return model_forward_flops(c) + (saves ? head_gradients(c) : 0);
}

static double backward_flops(const Config *c, bool saves)
{
    (void)saves;
    return 2 * model_forward_flops(c) - head_gradients(c);
}

/* Scores are read and written several times, the operands once or twice. */
static double score_bytes(const Config *c, bool saves)
{
    (void)saves;
    const double T = (double)c->ctx, D = (double)c->d_head;
    return (double)c->batch * (double)c->heads * (12 * T * T + 8 * T * D);
}

/* ---- from rows: which cells tell of it ---- */

static bool has_cold_sample(const Config *c)
{
    return c->from_first && c->warmup == 0;
}

static bool is_alike(const Config *a, const Config *b)
{
    return a->subject == b->subject && a->exec == b->exec && a->attention == b->attention &&
           a->precision == b->precision;
}

/* Passes that keep the graph are the same work in every mode; whole steps are not. A row that ended
 * OOM has the step of a smaller mode, and in place of a forward pass that keeps the graph one that
 * keeps nothing. */
static bool is_same_work(const TimeEstimateRow *row, const char *path, Mode wanted)
{
    const bool of_step = strncmp(path, "step.", 5) == 0,
               oom = record_status(row->record) == RECORD_OOM;
    const Mode mode = row->config->mode;
    if (oom && (of_step || mode == MODE_FWD_GRAD || mode != wanted)) return false;
    return mode == wanted || (!of_step && mode != MODE_FWD && wanted != MODE_FWD);
}

/* Where the first sample is cold the median is that of a warm one; NULL: too few samples. */
static const char *warm_path(const Record *record, const char *path, char *other, size_t size)
{
    const int phase = (int)strcspn(path, ".");
    snprintf(other, size, "%.*s.samples_ms", phase, path);
    if (json_array_size(record_value(record, other)) < 3) return NULL;
    snprintf(other, size, "%.*s.median_ms", phase, path);
    return other;
}

/* NAN: this row has no such figure. */
static double measured(const TimeEstimateRow *row, const char *path, const Config *wanted)
{
    char other[48];
    if (!row->record || !is_alike(wanted, row->config)) return NAN;
    if (!is_same_work(row, path, wanted->mode)) return NAN;
    if (has_cold_sample(row->config)) path = warm_path(row->record, path, other, sizeof other);
    const double x = path ? record_real(row->record, path) : NAN;
    return x > 0 ? x : NAN;
}

static double log_ratio(double a, double b)
{
    return fabs(log(a / b));
}

/* Far in work is nearer than far in shape: heads of another width, or a model of another size, run
 * other kernels. */
static double distance_of(const Config *a, const Config *b)
{
    const bool alone = a->subject == SUBJECT_ATTENTION;
    const double shape = alone ? log_ratio((double)a->d_head, (double)b->d_head)
                               : log_ratio(model_parameters(a), model_parameters(b));
    /* Of the same work first the same mode and no cold sample. */
    const double tie_break = 1e-3 * (a->mode != b->mode) + 1e-2 * has_cold_sample(a);
    return log_ratio(model_forward_flops(a), model_forward_flops(b)) + 4 * shape + tie_break;
}

enum { NEAREST = 3 };

typedef struct Near {
    const Config *config;
    double figure, distance;
    bool saves;
} Near;

/* Of a row that ended OOM the forward pass may be one that keeps nothing. */
static bool row_saves(const TimeEstimateRow *row)
{
    const char *mode = record_text(row->record, "measured_mode");
    return mode ? strcmp(mode, config_modes[MODE_FWD]) != 0 : config_mode_saves(row->config->mode);
}

/* Rows with the figure, the nearest first; one more is room to sort in. Returns how many. */
static int find_nearest(const char *path, const Config *wanted, const TimeEstimateRow *rows, int n,
                        Near nearest[NEAREST + 1])
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        const double figure = measured(&rows[i], path, wanted);
        if (isnan(figure)) continue;
        const Near near = {rows[i].config, figure, distance_of(rows[i].config, wanted),
                           row_saves(&rows[i])};
        int at = found;
        for (; at > 0 && near.distance < nearest[at - 1].distance; at--)
            nearest[at] = nearest[at - 1];
        nearest[at] = near;
        if (found < NEAREST) found++;
    }
    return found;
}

typedef struct Guess {
    double figure; /* NAN: none */
    double spread; /* of time by amount over the nearest rows, as a logarithm */
} Guess;

static Guess guess_by(const char *path, const Config *wanted, const TimeEstimateRow *rows, int n,
                      Amount *amount)
{
    Near nearest[NEAREST + 1];
    double least = INFINITY, most = -INFINITY;
    const int found = find_nearest(path, wanted, rows, n, nearest);
    if (found == 0) return (Guess){NAN, INFINITY};
    for (int i = 0; i < found; i++) {
        const double rate = log(nearest[i].figure / amount(nearest[i].config, nearest[i].saves));
        least = fmin(least, rate);
        most = fmax(most, rate);
    }
    const double work = amount(wanted, config_mode_saves(wanted->mode));
    return (Guess){nearest[0].figure * work / amount(nearest[0].config, nearest[0].saves),
                   most - least};
}

/* ---- from rows: one figure ---- */

static double phase_ms(const char *path, const Config *wanted, const TimeEstimateRow *rows, int n)
{
    if (strcmp(path, "optimizer.mean_ms") == 0)
        return guess_by(path, wanted, rows, n, parameters).figure;
    Amount *work = strcmp(path, "forward.mean_ms") == 0    ? forward_flops
                   : strcmp(path, "backward.mean_ms") == 0 ? backward_flops
                                                           : all_flops;
    const Guess flops = guess_by(path, wanted, rows, n, work);
    if (!keeps_scores(wanted)) return flops.figure;
    const Guess bytes = guess_by(path, wanted, rows, n, score_bytes);
    return bytes.spread < flops.spread ? bytes.figure : flops.figure;
}

static const char *const phase_paths[] = {"forward.mean_ms", "backward.mean_ms",
                                          "optimizer.mean_ms"};

/* The sum of the phases, because the optimizer's time grows otherwise than theirs; of whole steps
 * where only those were measured. */
static double step_ms(const Config *wanted, const TimeEstimateRow *rows, int n)
{
    double sum = 0;
    for (int i = 0; i < sampler_phases(wanted->mode); i++)
        sum += phase_ms(phase_paths[i], wanted, rows, n);
    return isnan(sum) ? phase_ms("step.mean_ms", wanted, rows, n) : sum;
}

double time_estimate_from_rows(const char *path, const Config *wanted, const TimeEstimateRow *rows,
                               int n)
{
    if (has_cold_sample(wanted)) return NAN;
    for (size_t i = 0; i < sizeof phase_paths / sizeof *phase_paths; i++) {
        if (strcmp(path, phase_paths[i]) == 0) return phase_ms(path, wanted, rows, n);
    }
    if (strcmp(path, "step.mean_ms") == 0) return step_ms(wanted, rows, n);
    if (strcmp(path, "tokens_per_s") == 0)
        return config_tokens(wanted) / step_ms(wanted, rows, n) * 1e3;
    return NAN;
}
