#include "bench/estimate/estimate.h"

#include "bench/estimate/time_estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what time may be proportional to ---- */

typedef double Amount(const Config *config);

/* Scores are read and written several times, the operands once or twice. */
static double score_bytes(const Config *c)
{
    const double T = (double)c->ctx, D = (double)c->d_head;
    return (double)c->batch * (double)c->heads * (12 * T * T + 8 * T * D);
}

/* Of the forward pass: the phases of a row are set against each other whatever its mode. */
static double flops_of(const Config *c)
{
    Config forward = *c;
    forward.mode = MODE_FWD;
    return time_estimate_work(&forward);
}

static double weights(const Config *c)
{
    const double C = (double)c->model.d_model, F = (double)c->model.d_ff;
    return (double)c->model.num_layers * (4 * C * C + 3 * C * F) + 2 * (double)c->model.vocab * C;
}

static bool keeps_scores(const Config *c)
{
    return c->subject == SUBJECT_ATTENTION &&
           (c->attention == ATTENTION_NAIVE || c->attention == ATTENTION_FUSED);
}

/* ---- which cells tell of it ---- */

static bool has_cold_sample(const Config *c)
{
    return c->from_first && c->warmup == 0;
}

static bool is_alike(const Config *a, const Config *b)
{
    return a->subject == b->subject && a->exec == b->exec && a->attention == b->attention &&
           a->precision == b->precision;
}

/* Passes that keep the graph are the same work in every mode; whole steps are not. */
static bool is_same_phase(const char *path, Mode a, Mode b)
{
    const bool of_step = strncmp(path, "step.", 5) == 0;
    return a == b || (!of_step && a != MODE_FWD && b != MODE_FWD);
}

/* Of what did not fit, the step is that of a smaller mode, and in place of a forward pass that keeps the graph one that
 * keeps nothing was run. */
static bool is_of_its_mode(const EstimateCell *cell, const char *path)
{
    if (record_status(cell->record) != RECORD_OOM) return true;
    return strncmp(path, "step.", 5) != 0 && cell->config->mode != MODE_FWD_GRAD;
}

/* Of samples of which the first is cold, the median is that of a warm one; NULL: there are too few. */
static const char *warm_path(const Record *record, const char *path, char *other, size_t size)
{
    const int phase = (int)strcspn(path, ".");
    snprintf(other, size, "%.*s.samples_ms", phase, path);
    if (json_array_size(record_value(record, other)) < 3) return NULL;
    snprintf(other, size, "%.*s.median_ms", phase, path);
    return other;
}

/* NAN: this cell has no such figure. */
static double measured(const EstimateCell *cell, const char *path, const Config *wanted)
{
    char other[48];
    double x = NAN;
    if (!cell->record || !is_alike(wanted, cell->config) || !is_of_its_mode(cell, path)) return NAN;
    if (!is_same_phase(path, wanted->mode, cell->config->mode)) return NAN;
    if (record_status(cell->record) == RECORD_OOM && wanted->mode != cell->config->mode) return NAN;
    if (has_cold_sample(cell->config)) path = warm_path(cell->record, path, other, sizeof other);
    return path && record_number(cell->record, path, &x) && x > 0 ? x : NAN;
}

static double apart(double a, double b)
{
    return fabs(log(a / b));
}

/* Far in work is nearer than far in shape: heads of another width, or a model of another size, run other kernels. */
static double distance_of(const Config *a, const Config *b)
{
    const bool alone = a->subject == SUBJECT_ATTENTION;
    const double shape =
        alone ? apart((double)a->d_head, (double)b->d_head) : apart(weights(a), weights(b));
    /* Of the same work first what is of the same mode and has no cold sample. */
    const double otherwise = 1e-3 * (a->mode != b->mode) + 1e-2 * has_cold_sample(a);
    return apart(flops_of(a), flops_of(b)) + 4 * shape + otherwise;
}

enum { NEAREST = 3 };

/* Those that have the figure, the nearest first. Returns how many there are. */
static int find_nearest(const char *path, const Config *wanted, const EstimateCell *cells, int n,
                        int nearest[NEAREST])
{
    double distance[NEAREST];
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (isnan(measured(&cells[i], path, wanted))) continue;
        const double d = distance_of(cells[i].config, wanted);
        int at = found < NEAREST ? found++ : NEAREST;
        for (; at > 0 && d < distance[at - 1]; at--) {
            if (at == NEAREST) continue;
            distance[at] = distance[at - 1];
            nearest[at] = nearest[at - 1];
        }
        if (at == NEAREST) continue;
        distance[at] = d;
        nearest[at] = i;
    }
    return found;
}

typedef struct Guess {
    double figure; /* NAN: none */
    double spread; /* of time by amount over the nearest cells, as a logarithm */
} Guess;

static Guess guess_by(const char *path, const Config *wanted, const EstimateCell *cells, int n,
                      Amount *amount)
{
    int nearest[NEAREST];
    double least = INFINITY, most = -INFINITY;
    const int found = find_nearest(path, wanted, cells, n, nearest);
    if (found == 0) return (Guess){NAN, INFINITY};
    for (int i = 0; i < found; i++) {
        const EstimateCell *cell = &cells[nearest[i]];
        const double rate = log(measured(cell, path, wanted) / amount(cell->config));
        least = fmin(least, rate);
        most = fmax(most, rate);
    }
    const EstimateCell *first = &cells[nearest[0]];
    return (Guess){measured(first, path, wanted) * amount(wanted) / amount(first->config),
                   most - least};
}

/* ---- one figure ---- */

static double phase(const char *path, const Config *wanted, const EstimateCell *cells, int n)
{
    if (strcmp(path, "optimizer.mean_ms") == 0)
        return guess_by(path, wanted, cells, n, weights).figure;
    const Guess flops = guess_by(path, wanted, cells, n, flops_of);
    if (!keeps_scores(wanted)) return flops.figure;
    const Guess bytes = guess_by(path, wanted, cells, n, score_bytes);
    return bytes.spread < flops.spread ? bytes.figure : flops.figure;
}

/* Its phases together, for the optimizer's time grows otherwise than theirs; where only whole steps were measured,
 * those. */
static double step(const Config *wanted, const EstimateCell *cells, int n)
{
    static const char *const paths[] = {"forward.mean_ms", "backward.mean_ms", "optimizer.mean_ms"};
    const int n_phases = wanted->mode == MODE_TRAIN ? 3 : wanted->mode == MODE_FWD_BWD ? 2 : 1;
    double sum = 0;
    for (int i = 0; i < n_phases; i++) sum += phase(paths[i], wanted, cells, n);
    return isnan(sum) ? phase("step.mean_ms", wanted, cells, n) : sum;
}

double estimate_figure(const char *path, const Config *wanted, const EstimateCell *cells, int n)
{
    static const char *const phases[] = {"forward.mean_ms", "backward.mean_ms",
                                         "optimizer.mean_ms"};
    if (has_cold_sample(wanted)) return NAN;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        if (strcmp(path, phases[i]) == 0) return phase(path, wanted, cells, n);
    }
    if (strcmp(path, "step.mean_ms") == 0) return step(wanted, cells, n);
    if (strcmp(path, "tokens_per_s") == 0)
        return (double)wanted->batch * (double)wanted->ctx / step(wanted, cells, n) * 1e3;
    return NAN;
}
