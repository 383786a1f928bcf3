#include "bench/estimate/comm_forecast.h"

#include "base/array.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/roofline.h"

#include <stdio.h>
#include <stdlib.h>

#define NONE(out, ...) snprintf((out)->why, sizeof(out)->why, __VA_ARGS__)

static bool find_limits(CommForecast *out, const Placement *placement,
                        const CommForecastInput *input, Limits *limits)
{
    if (input->machine) {
        *limits = *input->machine;
        return true;
    }
    if (limits_cache_of(placement, limits)) return true;
    if (placement->backend == BACKEND_cpu)
        NONE(out,
             "the rates of this machine are not known: run 'roofstep limits --threads %d' once",
             placement->threads);
    else
        NONE(out, "the rates of this GPU are not known: run 'roofstep limits --device cuda' once");
    return false;
}

/* Of one rank, from the roof. */
static Status single_roof(const Config *config, const Placement *placement, const Limits *limits,
                          double *seconds)
{
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    Config one = *config;
    one.ranks = 1;
    TRY(placement_plan(placement, &one, one.mode, &model, &binding));
    CLEANUP(array_free) double *nodes = calloc((size_t)model.plan.n_nodes + 1, sizeof *nodes);
    if (!nodes) return NO_MEMORY("for %d nodes", model.plan.n_nodes);
    (void)roofline_nodes(&model.plan, limits, config->precision, nodes);
    *seconds = comm_estimate_compute(&model.plan, nodes);
    return ST_OK;
}

/* ST_UNSUPPORTED is why there is no forecast. */
static Status simulate(CommForecast *out, const Placement *placement, const Binding *binding,
                       const CommForecastInput *input, const double *seconds)
{
    const bool cpu = placement->backend == BACKEND_cpu;
    const CommEstimateInput step = {.plan = binding->plan,
                                    .waits = binding->waits,
                                    .seconds = seconds,
                                    .links = input->links,
                                    .beside = cpu ? 1 - 1.0 / placement->threads : 1};
    if (plan_ranks(binding->plan) > 1 && !input->links) {
        NONE(out, "the links between ranks are not known: give --link BANDWIDTH,LATENCY such as "
                  "450GB/s,5us");
        return ST_OK;
    }
    const Status status = comm_estimate_step(&step, &out->times);
    if (status != ST_UNSUPPORTED) return status;
    NONE(out, "%s", status_message());
    return ST_OK;
}

Status comm_forecast_make(CommForecast *out, const Config *config, const Placement *placement,
                          const Binding *binding, const CommForecastInput *input)
{
    const Plan *plan = binding->plan;
    Limits limits;
    double roof = 0;
    *out = (CommForecast){.measured = input->step > 0};
    CLEANUP(array_free) double *seconds = calloc((size_t)plan->n_nodes + 1, sizeof *seconds);
    if (!seconds) return NO_MEMORY("for %d nodes", plan->n_nodes);
    if (!find_limits(out, placement, input, &limits)) return ST_OK;
    if (!roofline_nodes(plan, &limits, config->precision, seconds)) {
        NONE(out, "the limits have no rate of %s", config_precisions[config->precision]);
        return ST_OK;
    }
    TRY(single_roof(config, placement, &limits, &roof));
    out->single = out->measured ? input->step : roof;
    const double own_roof = input->alone > 0 ? comm_estimate_compute(plan, seconds) : roof;
    const double scale =
        own_roof > 0 ? (input->alone > 0 ? input->alone : out->single) / own_roof : 1;
    for (int i = 0; i < plan->n_nodes; i++) seconds[i] *= scale;
    TRY(simulate(out, placement, binding, input, seconds));
    out->efficiency = out->times.step > 0 ? out->single / out->times.step : 1;
    return ST_OK;
}
