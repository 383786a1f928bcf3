#include "bench/estimate/time_estimate.h"

#include "backend/cpu_info.h"
#include "bench/estimate/suite_cost.h"
#include "bench/limits/limits.h"
#include "bench/limits/limits_gpu.h"
#include "bench/limits/roofline.h"
#include "bench/measure/sampler.h"

#include <math.h>

static const double usual_share = 0.8; /* of the roof that a step reaches */

static Status cpu_cache(size_t *bytes)
{
    CpuInfo info;
    TRY(cpu_info_read(&info, ""));
    *bytes = (size_t)cpu_info_cache(&info);
    return ST_OK;
}

/* A plan may be asked for without the GPU it is for: then nothing is known. */
static bool load_limits(const Placement *placement, Limits *limits, size_t *cache)
{
    const bool cpu = placement->backend == BACKEND_cpu;
    LimitsKey key;
    return (cpu ? limits_key(placement->threads, &key) : limits_gpu_key(placement->device, &key)) ==
               ST_OK &&
           (cpu ? cpu_cache(cache) : limits_gpu_cache(placement->device, cache)) == ST_OK &&
           limits_load(&key, limits);
}

Status time_estimate_make(TimeEstimate *outlook, const Config *config, const Placement *placement,
                          const Plan *plan)
{
    Limits limits;
    size_t cache = 0;
    *outlook = (TimeEstimate){NAN, NAN, NAN};
    if (load_limits(placement, &limits, &cache))
        *outlook = time_estimate_by(&limits, cache, config->precision, plan);
    return ST_OK;
}

TimeEstimate time_estimate_by(const Limits *limits, size_t cache, Precision precision,
                              const Plan *plan)
{
    const double peak = limits_peak_flops(limits, precision);
    return (TimeEstimate){.peak_flops = peak > 0 ? peak : NAN,
                          .bandwidth = roofline_bandwidth(limits),
                          .roof_seconds = roofline_seconds(plan, limits, precision, cache)};
}

double time_estimate_steps_seconds(const Config *c, double step)
{
    const double first = c->from_first ? 0 : 1;
    const double unmeasured = step * fmax((double)c->warmup, first);
    const double samples = step * (double)c->steps;
    const double least = step * fmin((double)c->steps, SAMPLER_LEAST);
    const double most = config_sample_seconds(c);
    if (!(most > 0) || isnan(step)) return unmeasured + samples;
    return fmax(fmin(unmeasured, most / 2), step) + fmax(fmin(samples, most), least);
}

double time_estimate_cell_seconds(const TimeEstimate *outlook, const Config *config)
{
    return time_estimate_steps_seconds(config, outlook->roof_seconds / usual_share);
}

double time_estimate_least_seconds(const TimeEstimate *outlook, const Config *config)
{
    const double steps = 1 + fmin((double)config->steps, SAMPLER_LEAST);
    return config_sample_seconds(config) > 0 ? steps * outlook->roof_seconds : NAN;
}

/* Forward: two products of T x T x D for every head, half of it when causal. Backward: twice that. */
static double attention_work(const Config *c)
{
    const double T = (double)c->ctx, pairs = c->mask == MASK_CAUSAL ? T * T / 2 : T * T;
    return 4 * (double)c->batch * (double)c->heads * pairs * (double)c->d_head;
}

/* Forward: 2 FLOPs per weight and token, and two products of T x T / 2 x C per sequence and layer.
 * Backward: twice that. */
static double model_work(const Config *c)
{
    const double B = (double)c->batch, T = (double)c->ctx, C = (double)c->model.d_model;
    const double F = (double)c->model.d_ff, V = (double)c->model.vocab,
                 L = (double)c->model.num_layers;
    const double weights = L * (4 * C * C + 3 * C * F) + V * C;
    return 2 * B * T * weights + L * 2 * B * T * T * C;
}

double time_estimate_work(const Config *c)
{
    const double forward = c->subject == SUBJECT_ATTENTION ? attention_work(c) : model_work(c);
    return config_mode_has_backward(c->mode) ? 3 * forward : forward;
}

/* What is stored for a CPU is read once: a sweep has hundreds of cells. The limits of a GPU cannot be looked up
 * without opening it, after which this process could not fork. */
static const SuiteRates *rates_of(const Config *config, bool *known)
{
    static struct {
        int threads;
        bool known;
        SuiteRates rates;
    } last = {.threads = -1};
    Placement place = {0};
    const int threads =
        placement_of(config, &place) == ST_OK && place.backend == BACKEND_cpu ? place.threads : 0;
    if (threads != last.threads) {
        Limits limits;
        size_t cache;
        last.known = threads > 0 && load_limits(&place, &limits, &cache);
        last.rates = suite_cost_rates(last.known ? &limits : NULL);
        last.threads = threads;
    }
    *known = last.known;
    return &last.rates;
}

double time_estimate_weight(const Config *config)
{
    bool known;
    return fmin(suite_cost_cell(config, rates_of(config, &known)), config->timeout);
}

bool time_estimate_weight_is_known(const Config *config)
{
    bool known;
    (void)rates_of(config, &known);
    return known;
}
