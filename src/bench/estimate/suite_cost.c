#include "bench/estimate/suite_cost.h"

#include "bench/estimate/time_estimate.h"
#include "bench/limits/roofline.h"

#include <math.h>

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

SuiteRates suite_cost_rates(const Limits *limits)
{
    SuiteRates rates = {.bandwidth = guessed_bandwidth, .start = start_cpu, .bf16 = true};
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

/* Scores in memory are written and read once by each primitive of naive attention: twelve times forward
 * and as often again backward. */
static double score_bytes(const Config *c)
{
    const bool kept = c->attention == ATTENTION_NAIVE || c->attention == ATTENTION_FUSED;
    const double passes = c->attention == ATTENTION_NAIVE ? 24 : 8;
    if (c->subject != SUBJECT_ATTENTION || !kept) return 0;
    return 4 * passes * (double)c->batch * (double)c->heads * (double)c->ctx * (double)c->ctx;
}

double suite_cost_cell(const Config *config, const SuiteRates *rates)
{
    const double step = time_estimate_work(config) / rates->flops[config->precision] +
                        score_bytes(config) / rates->bandwidth;
    return rates->start + time_estimate_steps_seconds(config, step);
}

double suite_cost_cells(const Config *configs, int n, const SuiteRates *rates)
{
    double seconds = 0;
    for (int i = 0; i < n; i++) seconds += suite_cost_cell(&configs[i], rates);
    return seconds;
}
